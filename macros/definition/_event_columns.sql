{#- The columns of <entity>_events, in order, without its partition. -#}
{%- macro _event_columns(entity, layout={}) -%}
    {%- set columns = [
        {'name': 'event_op', 'data_type': 'string'},
        {'name': 'event_position', 'data_type': 'array<bigint>'},
        {'name': 'event_transaction', 'data_type': 'string'},
        {'name': 'event_time', 'data_type': 'timestamp'},
        {'name': 'event_hash', 'data_type': 'bigint'},
        {'name': 'key_hash', 'data_type': 'binary'},
    ] -%}
    {%- set old_keys = spark_cdc._old_keys(entity) -%}
    {%- if old_keys -%}
        {%- do columns.append({'name': 'old_key_hash', 'data_type': 'binary'}) -%}
    {%- endif -%}
    {%- if entity.events.unique_keys -%}
        {%- do columns.append({'name': 'old_alternate_hash', 'data_type': 'binary'}) -%}
        {%- do columns.append({'name': 'alternate_hashes', 'data_type': 'array<binary>'}) -%}
    {%- endif -%}
    {%- for column in old_keys + entity.stored -%}
        {%- do columns.append({'name': column.name, 'data_type': column.data_type}) -%}
    {%- endfor -%}
    {%- for name in ['event_absent', 'event_unavailable', 'event_unexpected'] -%}
        {%- do columns.append({'name': name, 'data_type': 'array<string>'}) -%}
    {%- endfor -%}
    {%- do columns.append({'name': 'note', 'data_type': 'string'}) -%}
    {%- set described = [] -%}
    {%- for column in columns -%}
        {%- do described.append({'name': column.name, 'data_type': column.data_type, 'sql': spark_cdc._quote(column.name)}) -%}
    {%- endfor -%}
    {{ return(spark_cdc._placed_columns(described, layout, former_keys=true)) }}
{%- endmacro -%}
