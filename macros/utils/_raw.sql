{#- The name, inside staging, of a column as it came in. -#}
{%- macro _raw(column) -%}
    {{ return(spark_cdc._quote('raw__' ~ column.name)) }}
{%- endmacro -%}
