{#- The value of a column in the rows of the loads so far, as an expression over the ledger's columns. -#}
{%- macro _former_sql(item, before) -%}
    {%- if item.former is none -%}
        {{ return(item.default or 'cast(null as ' ~ item.column.data_type ~ ')') }}
    {%- endif -%}
    {%- set former = spark_cdc._place_sql(spark_cdc._place(before, item.former)) -%}
    {{ return(item.conversion.sql | replace('raw__value', former) if item.conversion else former) }}
{%- endmacro -%}
