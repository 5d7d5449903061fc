{#- Change-event format `canal`: the flat JSON messages of Canal for MySQL, and of what writes like
    it. One row for each row of a message. -#}
{%- macro _events_canal(entity, landed) -%}
{%- set row_types = {'INSERT': 'insert', 'UPDATE': 'update', 'DELETE': 'delete', 'INIT': 'read'} -%}
{%- set codes = dict(row_types, TRUNCATE='truncate', **dict.fromkeys([
    'CREATE', 'ALTER', 'ERASE', 'RENAME', 'QUERY', 'CINDEX', 'DINDEX', 'GTID', 'XACOMMIT', 'XAROLLBACK', 'MHEARTBEAT', 'INIT_DDL',
    'WATERMARK', 'TIDB_WATERMARK',
], 'control')) -%}
{%- set fields = spark_cdc._message_fields(entity, [
    ['id', 'string', 'id'], ['database', 'string', 'database_name'], ['table', 'string', 'table_name'],
    ['type', 'string', 'change_type'], ['isDdl', 'boolean', 'is_ddl'], ['es', 'string', 'millis'], ['gtid', 'string', 'gtid'],
    ['data', 'array<map<string, string>>', 'new_rows'], ['old', 'array<map<string, string>>', 'old_rows'],
], ['id']) -%}
{%- set table = ['database_name', 'table_name'] -%}
{%- set parts = fields.order | map(attribute='number') | list -%}
with parsed as (
    {{ spark_cdc._parsed_messages(entity, landed, fields.known) | indent(4) }}
),

named as (
    select
        *,
        {{ spark_cdc._message_operation(
            entity, codes, 'upper(change_type)', table, "is_ddl and coalesce(upper(change_type), '') <> 'TRUNCATE'"
        ) | indent(8) }} as event_op
    from parsed
),

changes as (
    select
        *,
        get(old_rows, row_index) as old_row
    from named
        lateral view outer
        posexplode(if(event_op in ('{{ row_types.values() | join("', '") }}'), new_rows, null)) images as row_index, new_row
)

select
    event_op,
    {{ spark_cdc._message_position(parts + ['cast(coalesce(row_index, 0) as bigint)']) | indent(4) }} as event_position,
    if(event_op = 'control' or gtid = '', null, gtid) as event_transaction,
    if(event_op = 'control', null, timestamp_micros(try_multiply(try_cast(millis as bigint), 1000))) as event_time,
    case
        {{ spark_cdc._unreadable_message_cases('Canal', 'one flat message a line') | indent(8) }}
        {{ spark_cdc._unknown_message_case("'type'", 'change_type', codes) | indent(8) }}
        when event_op <> 'truncate' and coalesce(size(new_row), 0) < 1
            then 'no data; accepted is one entry of data for each row, which needs binlog_format=ROW at the source'
        when event_op = 'update' and (old_row is null or size(old_rows) <> size(new_rows))
            then 'update without its old values; accepted is one entry of old for each of data'
        {{ spark_cdc._lost_columns_case('old_row', 'new_row', 'old', 'data', 'data with all columns of the row') | indent(8) }}
        when event_op <> 'read'
            then {{ spark_cdc._message_order_problem(fields.order, parts, 'a whole number') | indent(12) }}
    end as event_problem,
    case event_op
        when 'update' then {{ spark_cdc._overlaid('new_row', 'old_row') }}
        when 'delete' then new_row
    end as event_before,
    if(event_op in ('insert', 'update', 'read'), new_row, null) as event_after,
    {{ spark_cdc._event_origin(table) | indent(4) }} as event_origin,
    landed_row
from changes
{%- endmacro -%}


{%- macro _events_canal_format() -%}
    {{ return({'settings': {'table': none, 'order_fields': none}, 'has_order': true, 'landed_row': true, 'origin': true}) }}
{%- endmacro -%}
