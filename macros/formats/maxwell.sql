{#- Change-event format `maxwell`: the JSON messages of Maxwell's daemon for MySQL. One row a
    message. The last row of a transaction has no xoffset. MySQL counts transactions anew when it
    starts, with another file. -#}
{%- macro _events_maxwell(entity, landed) -%}
{%- set by_binlog = not entity.events.get('order_fields') -%}
{%- set faults -%}
when coalesce(size(new_row), 0) < 1 then 'no data; accepted is an unencrypted row under data'
{{ spark_cdc._lost_columns_case(
    'old_values', 'new_row', 'old', 'data', 'data with its nulls, which Maxwell writes with output_nulls=true'
) }}
{%- endset -%}
{#- an object in place of the text file:offset is accepted too -#}
{%- set binlog -%}
if(
    startswith(binlog_text, '{'),
    concat(
        get_json_object(binlog_text, '$.file'), ':',
        coalesce(
            get_json_object(binlog_text, '$.offset'), get_json_object(binlog_text, '$.position'), get_json_object(binlog_text, '$.pos')
        )
    ),
    binlog_text
)
{%- endset -%}
{{ spark_cdc.document_events(entity, landed, {
    'tool': 'Maxwell',
    'fields': [
        ['database', 'string', 'database_name'], ['table', 'string', 'table_name'], ['type', 'string', 'change_type'],
        ['ts', 'string', 'seconds'], ['xid', 'string', 'transaction_id'], ['xoffset', 'string', 'transaction_offset'],
        ['commit', 'boolean', 'is_last'], ['position', 'string', 'binlog_text'], ['data', 'map<string, string>', 'new_row'],
        ['old', 'map<string, string>', 'old_values'],
    ],
    'table': ['database_name', 'table_name'],
    'log': spark_cdc._binlog_name("substring_index(binlog, ':', 1)") if by_binlog else none,
    'code': 'change_type', 'label': "'type'",
    'codes': {'insert': 'insert', 'update': 'update', 'delete': 'delete', 'bootstrap-insert': 'read'},
    'ignored': [
        'bootstrap-start', 'bootstrap-complete', 'table-create', 'table-alter', 'table-drop',
        'database-create', 'database-alter', 'database-drop',
    ],
    'named': {'binlog': binlog},
    'completed': {
        'binlog_name': "nullif(substring_index(binlog, ':', 1), '')",
        'binlog_file': spark_cdc._place_in_log("try_cast(substring_index(substring_index(binlog, ':', 1), '.', -1) as bigint)"),
        'binlog_offset': spark_cdc._place_in_log("try_cast(substring_index(binlog, ':', -1) as bigint)"),
        'row_number': "if(event_op = 'read', -1, coalesce(try_cast(transaction_offset as bigint), if(is_last, 9223372036854775807, 0)))",
    },
    'own_order': [{
        'name': "'position'", 'text': 'binlog_text', 'number': 'if(binlog_file is null, null, binlog_offset)',
        'parts': ['binlog_file', 'binlog_offset', 'row_number'],
    }],
    'accepted_order': 'file.number:offset, which Maxwell writes with output_binlog_position=true, or events.order_fields' if by_binlog
        else 'a whole number',
    'transaction': "if(transaction_id is null, null, concat_ws(':', binlog_name, transaction_id))",
    'time': 'timestamp_micros(try_multiply(try_cast(seconds as bigint), 1000000))',
    'faults': faults,
    'changed': 'old_values',
}) }}
{%- endmacro -%}


{%- macro _events_maxwell_format() -%}{{ return({'shape': 'documents'}) }}{%- endmacro -%}
