{#- Change-event format `canal`: the flat JSON messages of Canal for MySQL, and of what writes like
    it. One row for each row of a message. -#}
{%- macro _events_canal(entity, landed) -%}
{%- set faults -%}
when coalesce(size(new_row), 0) < 1
    then 'no data; accepted is one entry of data for each row, which needs binlog_format=ROW at the source'
when event_op = 'update' and (old_row is null or size(old_rows) <> size(new_rows))
    then 'update without its old values; accepted is one entry of old for each of data'
{{ spark_cdc._lost_columns_case('old_row', 'new_row', 'old', 'data', 'data with all columns of the row') }}
{%- endset -%}
{{ spark_cdc.document_events(entity, landed, {
    'tool': 'Canal', 'accepted': 'one flat message a line',
    'fields': [
        ['id', 'string', 'id'], ['database', 'string', 'database_name'], ['table', 'string', 'table_name'],
        ['type', 'string', 'change_type'], ['isDdl', 'boolean', 'is_ddl'], ['es', 'string', 'millis'], ['gtid', 'string', 'gtid'],
        ['data', 'array<map<string, string>>', 'new_rows'], ['old', 'array<map<string, string>>', 'old_rows'],
    ],
    'table': ['database_name', 'table_name'],
    'code': 'change_type', 'ignores_case': true, 'label': "'type'",
    'codes': {'INSERT': 'insert', 'UPDATE': 'update', 'DELETE': 'delete', 'INIT': 'read', 'TRUNCATE': 'truncate'},
    'ignored': [
        'CREATE', 'ALTER', 'ERASE', 'RENAME', 'QUERY', 'CINDEX', 'DINDEX', 'GTID', 'XACOMMIT', 'XAROLLBACK', 'MHEARTBEAT', 'INIT_DDL',
        'WATERMARK', 'TIDB_WATERMARK',
    ],
    'control': "is_ddl and coalesce(upper(change_type), '') <> 'TRUNCATE'",
    'completed': {
        'each': "posexplode(if(event_op in ('insert', 'update', 'delete', 'read'), new_rows, null)) images as row_index, new_row",
        'old_row': 'get(old_rows, row_index)',
    },
    'order': ['id'], 'position': ['cast(coalesce(row_index, 0) as bigint)'],
    'transaction': "nullif(gtid, '')",
    'time': 'timestamp_micros(try_multiply(try_cast(millis as bigint), 1000))',
    'faults': faults,
    'changed': 'old_row',
}) }}
{%- endmacro -%}


{%- macro _events_canal_format() -%}{{ return({'shape': 'documents'}) }}{%- endmacro -%}
