{#- A number by which equal events are told from different ones that claim the same place in the order. Of a delete only the key counts. -#}
{%- macro _event_hash(entity) -%}
{%- set columns = spark_cdc._old_keys(entity) + entity.stored -%}
if(
    event_op = 'delete',
    xxhash64(event_op{{ spark_cdc._event_hash_values(entity.key_columns) }}),
    xxhash64(coalesce(event_op, ''){{ spark_cdc._event_hash_values(columns) }}, event_absent, event_unavailable)
)
{%- endmacro -%}


{%- macro _event_hash_values(columns) -%}
    {%- for column in columns -%}
    {%- set is_map = column.data_type.startswith('map') or 'map<' in column.data_type -%}
    , {{ column.sql }} is null, {{ "to_json(named_struct('m', %s))" | format(column.sql) if is_map else column.sql }}
    {%- endfor -%}
{%- endmacro -%}
