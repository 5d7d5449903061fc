{#- The columns of <entity>_events, in order, without its partition; each with where it lies under a layout. -#}
{%- macro _event_columns(entity, layout={}) -%}
    {%- set old_keys = spark_cdc._old_keys(entity) -%}
    {%- set columns = [] -%}
    {%- for name, data_type in [('event_op', 'string'), ('event_position', 'array<bigint>'), ('event_transaction', 'string'),
                                ('event_time', 'timestamp'), ('event_hash', 'bigint'), ('key_hash', 'binary')]
            + ([('old_key_hash', 'binary')] if old_keys else [])
            + ([('old_alternate_hash', 'binary'), ('alternate_hashes', 'array<binary>')] if entity.events.unique_keys else []) -%}
        {%- do columns.append({'name': name, 'data_type': data_type}) -%}
    {%- endfor -%}
    {%- do columns.extend(old_keys + entity.stored) -%}
    {%- for name in ['event_absent', 'event_unavailable', 'event_unexpected'] -%}
        {%- do columns.append({'name': name, 'data_type': 'array<string>'}) -%}
    {%- endfor -%}
    {%- do columns.append({'name': 'event_origin', 'data_type': spark_cdc._event_origin_type()}) if entity.events.origin -%}
    {%- do columns.append({'name': 'note', 'data_type': 'string'}) -%}
    {{ return(spark_cdc._placed_columns(columns, layout, former_keys=true)) }}
{%- endmacro -%}


{#- Those of them that say what happens to a row, which is all that views on archived events need. -#}
{%- macro _event_columns_of_rows(entity) -%}
    {{ return(spark_cdc._event_columns(entity) | rejectattr('name', 'equalto', 'event_origin') | list) }}
{%- endmacro -%}
