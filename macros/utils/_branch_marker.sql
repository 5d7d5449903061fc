{#- What makes a schema a branch of production's (docs/branches.md): the view <schema>_commits.spark_cdc_branch, whose text says in a comment of which
    schema it is one (of) and how the branch is called (name). Made first and dropped last, so that create and drop can be repeated. -#}
{%- macro _branch_marker(schema) -%}
    {{ return(spark_cdc._relation_in(schema ~ '_commits', 'spark_cdc_branch')) }}
{%- endmacro -%}


{#- What the marker of a schema says; none where it has none. -#}
{%- macro _branch_marker_of(schema) -%}
    {%- set marker = spark_cdc._branch_marker(schema) -%}
    {%- if not spark_cdc._query('show schemas like ' ~ spark_cdc._literal(marker.schema))
            or not spark_cdc._query('show views in ' ~ spark_cdc._quote(marker.schema) ~ ' like ' ~ spark_cdc._literal(marker.identifier)) -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set text = spark_cdc._query('show create table ' ~ marker)[0].createtab_stmt -%}
    {%- set found = modules.re.search('/[*] spark_cdc branch: ([{].*[}]) [*]/', text) -%}
    {{ return(fromjson(found.group(1)) if found else none) }}
{%- endmacro -%}
