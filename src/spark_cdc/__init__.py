"""Change data capture with dbt on Spark: command line, local server and generators."""

__version__ = "0.1.0"
