{#- The table that is written where a table is meant: in a branch (docs/branches.md) a view has its name, which shows production's rows too, and what the branch
    writes lies beside it, in <name>_own. Told from dbt's look at the catalogue. -#}
{%- macro _own(table) -%}
    {%- set found = load_cached_relation(table) -%}
    {%- if found is none or '\nType: VIEW\n' not in (found.information or '') -%}{{ return(table) }}{%- endif -%}
    {{ return(spark_cdc._relation_in(table.schema, table.identifier ~ '_own')) }}
{%- endmacro -%}
