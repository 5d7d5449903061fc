{#- A number by which equal events are told from different ones that claim the same place in the order. -#}
{%- macro _event_hash(entity) -%}
xxhash64(
    coalesce(event_op, '')
    {%- for column in spark_cdc._old_keys(entity) + entity.stored -%}
    {%- set is_map = column.data_type.startswith('map') or 'map<' in column.data_type -%}
    , {{ column.sql }} is null, {{ "to_json(named_struct('m', %s))" | format(column.sql) if is_map else column.sql }}
    {%- endfor %},
    event_absent, event_unavailable
)
{%- endmacro -%}
