{#- Change-event format `wal2json`: what PostgreSQL's output plugin wal2json writes, in format 1 (a
    transaction a message) and format 2 (a change a message), told apart message by message. One row
    a change. Trailing blanks of char(n) mean nothing in PostgreSQL (is_padded). -#}
{%- macro _events_wal2json(entity, landed) -%}
{%- set columns = 'array<struct<name: string, type: string, value: string>>' -%}
{%- set changes -%}
posexplode(if(
    action is null,
    changes,
    array(named_struct(
        'kind', action,
        'schema', schema_name,
        'table', table_name,
        'columnnames', new_columns.name,
        'columntypes', new_columns.type,
        'columnvalues', new_columns.value,
        'oldkeys', named_struct('keynames', old_columns.name, 'keytypes', old_columns.type, 'keyvalues', old_columns.value)
    ))
)) list as change_index, one
{%- endset -%}
{#- an LSN is two hexadecimal numbers of 32 bits with a slash between; here they are one number -#}
{%- set log_number -%}
if(log_position rlike '^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$', try_cast(conv({# -#}
concat(substring_index(log_position, '/', 1), lpad(substring_index(log_position, '/', -1), 8, '0')), 16, 10{# -#}
) as bigint), null)
{%- endset -%}
{%- set faults -%}
{{ spark_cdc._named_values_cases('new_names', 'new_values', 'new_row', 'columns') }}
{{ spark_cdc._named_values_cases('old_names', 'old_values', 'old_row', 'old keys') }}
when event_op <> 'delete' and coalesce(size(new_row), 0) < 1
    then concat(event_op, ' without columns; accepted is at least one column with its value')
when event_op = 'delete' and coalesce(size(old_row), 0) < 1
    then 'delete without an old key; accepted is one, which needs a primary key or another replica identity of the table'
{%- endset -%}
{{ spark_cdc.document_events(entity, landed, {
    'tool': 'wal2json', 'accepted': 'one object a line, without write-in-chunks',
    'fields': [
        ['action', 'string', 'action'], ['xid', 'string', 'transaction_id'], ['nextlsn', 'string', 'nextlsn'], ['lsn', 'string', 'lsn'],
        ['timestamp', 'string', 'committed'], ['schema', 'string', 'schema_name'], ['table', 'string', 'table_name'],
        ['change', 'array<struct<kind: string, schema: string, table: string, columnnames: array<string>, columntypes: array<string>, '
            ~ 'columnvalues: array<string>, oldkeys: struct<keynames: array<string>, keytypes: array<string>, '
            ~ 'keyvalues: array<string>>>>', 'changes'],
        ['columns', columns, 'new_columns'], ['identity', columns, 'old_columns'],
    ],
    'opened': {
        'each': changes,
        'is_format_1': 'action is null and changes is not null',
        'is_padded': "contains(message, '\"character(') or contains(message, '\"bpchar\"')",
    },
    'table': ["one['schema']", "one['table']"],
    'code': "one['kind']", 'label': "if(is_format_1, 'kind', 'action')",
    'codes': {
        'insert': 'insert', 'update': 'update', 'delete': 'delete', 'truncate': 'truncate', 'message': 'control',
        'I': 'insert', 'U': 'update', 'D': 'delete', 'T': 'truncate', 'B': 'control', 'C': 'control', 'M': 'control',
    },
    'control': 'is_format_1 and one is null',
    'named': {
        'new_names': "one['columnnames']",
        'new_values': spark_cdc._wal2json_unpadded("one['columnvalues']", "one['columntypes']"),
        'old_names': "one['oldkeys']['keynames']",
        'old_values': spark_cdc._wal2json_unpadded("one['oldkeys']['keyvalues']", "one['oldkeys']['keytypes']"),
        'log_position': 'if(is_format_1, coalesce(nextlsn, lsn), lsn)',
    },
    'completed': {
        'log_number': log_number,
        'new_row': spark_cdc._named_values('new_names', 'new_values'),
        'old_row': spark_cdc._named_values('old_names', 'old_values'),
    },
    'own_order': [{'name': "if(is_format_1, 'nextlsn', 'lsn')", 'text': 'log_position', 'number': 'log_number'}],
    'accepted_order': 'an LSN such as 0/16B3748, which wal2json writes with include-lsn=true',
    'position': ['cast(coalesce(change_index, 0) as bigint)'],
    'transaction': 'coalesce(transaction_id, if(is_format_1, nextlsn, null))',
    'time': spark_cdc._cast_instant('committed', none, 'UTC'),
    'first_faults': 'when event_op is null and one is null '
        ~ "then 'neither change nor action; accepted are format 1 and format 2 of wal2json'",
    'faults': faults,
    'before': "if(event_op in ('update', 'delete') and size(old_row) > 0, old_row, null)",
}) }}
{%- endmacro -%}


{#- The values of columns, those of the type character(n) without the blanks with which PostgreSQL
    pads them. -#}
{%- macro _wal2json_unpadded(texts, types) -%}
if(is_padded and size({{ types }}) = size({{ texts }}), {# -#}
zip_with({{ texts }}, {{ types }}, (value, type) -> if(type like 'character(%' or type = 'bpchar', rtrim(value), value)), {{ texts }})
{%- endmacro -%}


{%- macro _events_wal2json_format() -%}{{ return({'shape': 'documents', 'settings': {'table': none}}) }}{%- endmacro -%}
