{#- The hash of another unique key, under the columns' own names and with its place among the unique keys. -#}
{%- macro _alternate_hash(columns) -%}
if({{ spark_cdc._any_null(columns) }}, null, {{ spark_cdc._hash(columns) }})
{%- endmacro -%}
