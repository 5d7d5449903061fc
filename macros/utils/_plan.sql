{#- What Spark says to EXPLAIN: the plan of a query, or as text why there is none. -#}
{%- macro _plan(sql) -%}{{ return(spark_cdc._query('explain ' ~ sql) | map(attribute='plan') | join('\n')) }}{%- endmacro -%}


{#- Whether a plan says that nothing lies at its path, or that there is no such relation. -#}
{%- macro _plan_lacks_path(plan) -%}{{ return('PATH_NOT_FOUND' in plan) }}{%- endmacro -%}
{%- macro _plan_lacks_relation(plan) -%}{{ return('_NOT_FOUND]' in plan) }}{%- endmacro -%}


{#- The path of which it says so; none. -#}
{%- macro _plan_missing_path(plan) -%}
    {{ return(modules.re.findall('PATH_NOT_FOUND\\] Path does not exist: (\\S+?)[.]?(?:\\s|$)', plan) | first | default(none)) }}
{%- endmacro -%}


{#- Why Spark can't plan a query, in its own words; none if it can. -#}
{%- macro _plan_refusal(plan) -%}
    {%- set match = modules.re.search('Error occurred during query planning:\\s*(.*)', plan, modules.re.DOTALL) -%}
    {{ return(modules.re.sub('\\s+', ' ', modules.re.split('SQLSTATE|; line [0-9]', match.group(1))[0]).strip(' .;')[:500] if match else none) }}
{%- endmacro -%}


{#- The paths that a query on files reads: how many, and as text as far as a setting lets it. Returns a dictionary: count, paths. -#}
{%- macro _plan_paths(plan) -%}
    {%- set found = modules.re.search('InMemoryFileIndex[(]([0-9]+) paths[)](\\[[^\n]*\\], PartitionFilters)?', plan) -%}
    {{ return({
        'count': found.group(1) | int if found else 0,
        'paths': (found.group(2) or '')[1:-19] if found else '',
    }) }}
{%- endmacro -%}
