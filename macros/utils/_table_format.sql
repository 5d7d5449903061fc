{#- The table format of a table; none where it is plain files. Told by dbt's look at the catalogue; a table that it has not seen is described. -#}
{%- macro _table_format(table) -%}
    {%- set provider = spark_cdc._provider_of(load_cached_relation(table)) -%}
    {%- if not provider -%}
        {%- for row in spark_cdc._query('describe table extended ' ~ table) if row.col_name == 'Provider' -%}
            {%- set provider = row.data_type | lower -%}
            {{ return(provider if provider in spark_cdc._table_formats() else none) }}
        {%- endfor -%}
    {%- endif -%}
    {{ return(provider if provider in spark_cdc._table_formats() else none) }}
{%- endmacro -%}
