{#- What the pattern `folder/*` finds, with the folder. No reader of Spark lists files of 0 bytes, but the plan of a query has all paths that a pattern
    stands for: how many, and as text as far as a setting lets it. Each costs Spark a look of its own.
    Returns a dictionary: is_there (whether there is anything at all), missing (else the path, as Spark has it), count, paths (text). -#}
{%- macro _found_by_pattern(entity, time) -%}
    {%- set path = spark_cdc._landing_path(entity, time).rstrip('/').replace('`', '``') -%}
    {%- set plan = spark_cdc._plan('select 1 from text.`' ~ path ~ '{,/*}`') -%}
    {{ return(dict(spark_cdc._plan_paths(plan), is_there=not spark_cdc._plan_lacks_path(plan),
        missing=(spark_cdc._plan_missing_path(plan) or '').removesuffix('{,/*}'))) }}
{%- endmacro -%}
