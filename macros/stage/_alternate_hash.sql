{#- The hash of another unique key, under the columns' own names and with its place among the unique keys. -#}
{%- macro _alternate_hash(columns) -%}
if({{ spark_cdc._any_null(columns) }}, null, {{ spark_cdc._hash(columns) }})
{%- endmacro -%}


{#- Those of all unique keys of a row, as an array. -#}
{%- macro _alternate_hash_array(entity) -%}
array_compact(array({# -#}
{%- for columns in entity.events.unique_keys -%}
{{ spark_cdc._alternate_hash(columns) }}{{ ', ' if not loop.last }}
{%- endfor -%}
))
{%- endmacro -%}
