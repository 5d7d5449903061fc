{#- A number by which equal events are told from different ones that claim the same place in the order. -#}
{%- macro _event_hash(entity) -%}
    {%- set parts = ["coalesce(event_op, '')"] -%}
    {%- for column in spark_cdc._old_keys(entity) + entity.stored -%}
        {%- set value = 'to_json(named_struct(\'m\', ' ~ column.sql ~ '))' if column.data_type.startswith('map') or 'map<' in column.data_type else column.sql -%}
        {%- do parts.append(column.sql ~ ' is null') -%}
        {%- do parts.append(value) -%}
    {%- endfor -%}
    {{ return('xxhash64(\n    ' ~ parts | join(', ') ~ ',\n    event_absent, event_unavailable\n)') }}
{%- endmacro -%}
