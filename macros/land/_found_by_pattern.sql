{#- What the pattern `folder/*` finds, with the folder. No reader of Spark lists files of 0 bytes, but the plan of a query has all paths that a pattern
    stands for: how many, and as text as far as a setting lets it. Each costs Spark a look of its own.
    Returns a dictionary: is_there (whether there is anything at all), count, paths (text). -#}
{%- macro _found_by_pattern(entity, time) -%}
    {%- set path = spark_cdc._landing_path(entity, time).rstrip('/').replace('`', '``') -%}
    {%- set plan = spark_cdc._plan('select 1 from text.`' ~ path ~ '{,/*}`') -%}
    {%- set found = modules.re.search('InMemoryFileIndex[(]([0-9]+) paths[)](\\[[^\n]*\\], PartitionFilters)?', plan) -%}
    {{ return({
        'is_there': 'PATH_NOT_FOUND' not in plan,
        'count': found.group(1) | int if found else 0,
        'paths': (found.group(2) or '')[1:-19] if found else '',
    }) }}
{%- endmacro -%}
