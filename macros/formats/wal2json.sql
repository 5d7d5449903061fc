{#- Change-event format `wal2json`: what PostgreSQL's output plugin wal2json writes, in format 1 (a
    transaction a message) and format 2 (a change a message), told apart message by message. One row
    a change. -#}
{%- macro _events_wal2json(entity, landed) -%}
{%- set codes = {'insert': 'insert', 'update': 'update', 'delete': 'delete', 'truncate': 'truncate', 'message': 'control',
    'I': 'insert', 'U': 'update', 'D': 'delete', 'T': 'truncate', 'B': 'control', 'C': 'control', 'M': 'control'} -%}
{%- set columns = 'array<struct<name: string, type: string, value: string>>' -%}
{%- set fields = [
    ['action', 'string', 'action'], ['xid', 'string', 'transaction_id'], ['nextlsn', 'string', 'nextlsn'], ['lsn', 'string', 'lsn'],
    ['timestamp', 'string', 'committed'], ['schema', 'string', 'schema_name'], ['table', 'string', 'table_name'],
    ['change', 'array<struct<kind: string, schema: string, table: string, columnnames: array<string>, columntypes: array<string>, '
        ~ 'columnvalues: array<string>, oldkeys: struct<keynames: array<string>, keytypes: array<string>, '
        ~ 'keyvalues: array<string>>>>', 'changes'],
    ['columns', columns, 'new_columns'], ['identity', columns, 'old_columns'],
] -%}
{%- set table = ["one['schema']", "one['table']"] -%}
with parsed as (
    {{ spark_cdc._parsed_messages(entity, landed, fields) | indent(4) }}
),

exploded as (
    select
        *,
        action is null and changes is not null as is_format_1,
        -- trailing blanks of char(n) mean nothing in PostgreSQL
        contains(message, '"character(') or contains(message, '"bpchar"') as is_padded
    from parsed
        lateral view outer
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
),

named as (
    select
        *,
        {{ spark_cdc._message_operation(
            entity, codes, "one['kind']", table, 'is_format_1 and one is null'
        ) | indent(8) }} as event_op,
        one['columnnames'] as new_names,
        {{ spark_cdc._wal2json_unpadded("one['columnvalues']", "one['columntypes']") }} as new_values,
        one['oldkeys']['keynames'] as old_names,
        {{ spark_cdc._wal2json_unpadded("one['oldkeys']['keyvalues']", "one['oldkeys']['keytypes']") }} as old_values,
        if(is_format_1, coalesce(nextlsn, lsn), lsn) as log_position
    from exploded
),

mapped as (
    select
        *,
        {# an LSN is two hexadecimal numbers of 32 bits with a slash between; here they are one
            number -#}
        if(log_position rlike '^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$', try_cast(conv({# -#}
        concat(substring_index(log_position, '/', 1), lpad(substring_index(log_position, '/', -1), 8, '0')), 16, 10{# -#}
        ) as bigint), null) as log_number,
        {{ spark_cdc._named_values('new_names', 'new_values') }} as new_row,
        {{ spark_cdc._named_values('old_names', 'old_values') }} as old_row
    from named
)

select
    event_op,
    if(event_op = 'control' or log_number is null, null, array(log_number, cast(coalesce(change_index, 0) as bigint))) as event_position,
    if(event_op = 'control', null, coalesce(transaction_id, if(is_format_1, nextlsn, null))) as event_transaction,
    if(event_op = 'control', null, {{ spark_cdc._cast_instant('committed', none, 'UTC') }}) as event_time,
    case
        {{ spark_cdc._unreadable_message_cases('wal2json', 'one object a line, without write-in-chunks') | indent(8) }}
        when event_op is null and one is null then 'neither change nor action; accepted are format 1 and format 2 of wal2json'
        {{ spark_cdc._unknown_message_case("if(is_format_1, 'kind', 'action')", "one['kind']", codes) | indent(8) }}
        when log_number is null
            then concat(
                'no order: ', if(is_format_1, 'nextlsn', 'lsn'), ' is ', coalesce({{ spark_cdc._shown('log_position') }}, 'missing'),
                '; accepted is an LSN such as 0/16B3748, which wal2json writes with include-lsn=true'
            )
        when event_op <> 'truncate'
            then coalesce(
                {{ spark_cdc._named_values_problem('new_names', 'new_values', 'columns') | indent(16) }},
                {{ spark_cdc._named_values_problem('old_names', 'old_values', 'old keys') | indent(16) }},
                if(
                    event_op <> 'delete' and coalesce(size(new_row), 0) < 1,
                    concat(event_op, ' without columns; accepted is at least one column with its value'), null
                ),
                if(
                    event_op = 'delete' and coalesce(size(old_row), 0) < 1,
                    'delete without an old key; accepted is one, which needs a primary key or another replica identity of the table', null
                )
            )
    end as event_problem,
    if(event_op in ('update', 'delete') and size(old_row) > 0, old_row, null) as event_before,
    if(event_op in ('insert', 'update'), new_row, null) as event_after,
    {{ spark_cdc._event_origin(table) | indent(4) }} as event_origin,
    landed_row
from mapped
{%- endmacro -%}


{#- The values of columns, those of the type character(n) without the blanks with which PostgreSQL
    pads them. -#}
{%- macro _wal2json_unpadded(texts, types) -%}
if(is_padded and size({{ types }}) = size({{ texts }}), {# -#}
zip_with({{ texts }}, {{ types }}, (value, type) -> if(type like 'character(%' or type = 'bpchar', rtrim(value), value)), {{ texts }})
{%- endmacro -%}


{%- macro _events_wal2json_format() -%}
    {{ return({'settings': {'table': none}, 'has_order': true, 'landed_row': true, 'origin': true}) }}
{%- endmacro -%}
