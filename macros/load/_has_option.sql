{#- Whether a table has an option, as dbt's look at the catalogue has it; one that it has not seen is of this run, and has all that
    _create_table_sql() gives. Argument: option (as name=value). -#}
{%- macro _has_option(table, option) -%}
    {%- set cached = load_cached_relation(spark_cdc._own(table)) -%}
    {%- if cached is none -%}{{ return(true) }}{%- endif -%}
    {%- set stored = modules.re.search('(?m)^Storage Properties: \\[(.*)\\]$', cached.information or '') -%}
    {{ return(stored is not none and option in stored.group(1).split(', ')) }}
{%- endmacro -%}
