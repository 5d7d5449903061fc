{#- Change-event format `maxwell`: the JSON messages of Maxwell's daemon for MySQL. One row a
    message. -#}
{%- macro _events_maxwell(entity, landed) -%}
{%- set codes = dict({'insert': 'insert', 'update': 'update', 'delete': 'delete', 'bootstrap-insert': 'read'}, **dict.fromkeys([
    'bootstrap-start', 'bootstrap-complete', 'table-create', 'table-alter', 'table-drop',
    'database-create', 'database-alter', 'database-drop',
], 'control')) -%}
{%- set fields = spark_cdc._message_fields(entity, [
    ['database', 'string', 'database_name'], ['table', 'string', 'table_name'], ['type', 'string', 'change_type'],
    ['ts', 'string', 'seconds'], ['xid', 'string', 'transaction_id'], ['xoffset', 'string', 'transaction_offset'],
    ['commit', 'boolean', 'is_last'], ['position', 'string', 'binlog_text'], ['data', 'map<string, string>', 'new_row'],
    ['old', 'map<string, string>', 'old_values'],
], []) -%}
{%- set table = ['database_name', 'table_name'] -%}
{%- set parts = fields.order | map(attribute='number') | list or ['binlog_file', 'binlog_offset', 'row_number'] -%}
with parsed as (
    {{ spark_cdc._parsed_messages(entity, landed, fields.known) | indent(4) }}
),

named as (
    select
        *,
        {{ spark_cdc._message_operation(entity, codes, 'change_type', table) | indent(8) }} as event_op,
        -- an object in place of the text file:offset is accepted too
        if(
            startswith(binlog_text, '{'),
            concat(
                get_json_object(binlog_text, '$.file'), ':',
                coalesce(get_json_object(binlog_text, '$.offset'), get_json_object(binlog_text, '$.position'), get_json_object(binlog_text, '$.pos'))
            ),
            binlog_text
        ) as binlog
    from parsed
),

ordered as (
    select
        *,
        nullif(substring_index(binlog, ':', 1), '') as binlog_name,
        {{ spark_cdc._place_in_log("try_cast(substring_index(substring_index(binlog, ':', 1), '.', -1) as bigint)") }} as binlog_file,
        {{ spark_cdc._place_in_log("try_cast(substring_index(binlog, ':', -1) as bigint)") }} as binlog_offset,
        -- Maxwell gives the last row of a transaction no xoffset
        coalesce(try_cast(transaction_offset as bigint), if(is_last, 9223372036854775807, 0)) as row_number
    from named
)

select
    event_op,
    {{ spark_cdc._message_position(parts) | indent(4) }} as event_position,
    -- MySQL counts transactions anew when it starts, with another file
    if(event_op = 'control' or transaction_id is null, null, concat_ws(':', binlog_name, transaction_id)) as event_transaction,
    if(event_op = 'control', null, timestamp_micros(try_multiply(try_cast(seconds as bigint), 1000000))) as event_time,
    case
        {{ spark_cdc._unreadable_message_cases('Maxwell') | indent(8) }}
        {{ spark_cdc._unknown_message_case("'type'", 'change_type', codes) | indent(8) }}
        when coalesce(size(new_row), 0) < 1 then 'no data; accepted is an unencrypted row under data'
        {%- if fields.order %}
        when event_op <> 'read' and ({{ parts | join(' is null or ') }} is null)
            then {{ spark_cdc._message_order_problem(fields.order, parts, 'a whole number') | indent(12) }}
        {%- else %}
        when event_op <> 'read' and (binlog_file is null or binlog_offset is null)
            then concat(
                'no order: position is ', coalesce({{ spark_cdc._shown('binlog_text') }}, 'missing'),
                '; accepted is file.number:offset, which Maxwell writes with output_binlog_position=true, or events.order_fields'
            )
        {%- endif %}
        {{ spark_cdc._lost_columns_case(
            'old_values', 'new_row', 'old', 'data', 'data with its nulls, which Maxwell writes with output_nulls=true'
        ) | indent(8) }}
    end as event_problem,
    case event_op
        when 'update' then {{ spark_cdc._overlaid('new_row', 'old_values') }}
        when 'delete' then new_row
    end as event_before,
    if(event_op in ('insert', 'update', 'read'), new_row, null) as event_after,
    {{ spark_cdc._event_origin(table, none if fields.order else spark_cdc._binlog_name("substring_index(binlog, ':', 1)")) | indent(4) }} as event_origin,
    landed_row
from ordered
{%- endmacro -%}


{%- macro _events_maxwell_format() -%}
    {{ return({'settings': {'table': none, 'order_fields': none}, 'has_order': true, 'landed_row': true, 'origin': true}) }}
{%- endmacro -%}
