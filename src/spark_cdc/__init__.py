"""Change data capture with dbt on Spark: command line, local server and generators."""

__version__ = "1.0.0"
