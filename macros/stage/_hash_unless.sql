{#- The hash of some columns; null where a condition holds. -#}
{%- macro _hash_unless(condition, columns) -%}
if(
    {{ condition }}, null,
    {{ spark_cdc._hash(columns) | indent(4) }}
)
{%- endmacro -%}
