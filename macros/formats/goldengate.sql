{#- Change-event format `goldengate`: the JSON messages of Oracle GoldenGate with before and after
    images (the operation model, `format=json`). One row a message. -#}
{%- macro _events_goldengate(entity, landed) -%}
{%- set codes = {'I': 'insert', 'U': 'update', 'D': 'delete', 'T': 'truncate', 'INSERT': 'insert', 'UPDATE': 'update',
    'DELETE': 'delete', 'TRUNCATE': 'truncate', 'UPSERT': 'upsert', 'DDL': 'control', 'STREAM_METADATA': 'control',
    'OBJECT_METADATA': 'control'} -%}
{%- set fields = spark_cdc._message_fields(entity, [
    ['table', 'string', 'table_name'], ['op_type', 'string', 'op_type'], ['op_ts', 'string', 'op_ts'], ['pos', 'string', 'pos'],
    ['xid', 'string', 'transaction_id'], ['before', 'map<string, string>', 'before_image'],
    ['after', 'map<string, string>', 'after_image'], ['$schema', 'string', 'json_schema'],
], ['pos']) -%}
{%- set parts = [] -%}
{%- set needed = [] -%}
{%- for field in fields.order -%}
    {%- set numbers = spark_cdc._goldengate_order(field.text) -%}
    {%- do parts.extend(numbers) -%}
    {%- do needed.append(numbers[1]) -%}
{%- endfor -%}
with parsed as (
    {{ spark_cdc._parsed_messages(entity, landed, fields.known) | indent(4) }}
),

named as (
    select
        *,
        {{ spark_cdc._message_operation(
            entity, codes, 'upper(op_type)', ['table_name'], control='op_type is null and json_schema is not null'
        ) | indent(8) }} as event_op,
        {{ spark_cdc._goldengate_present('before_image') | indent(8) }} as old_row,
        {{ spark_cdc._goldengate_present('after_image') | indent(8) }} as new_row
    from parsed
)

select
    event_op,
    {{ spark_cdc._message_position(parts) | indent(4) }} as event_position,
    if(event_op = 'control', null, transaction_id) as event_transaction,
    if(event_op = 'control', null, {{ spark_cdc._cast_instant('op_ts', none, entity.timezone) }}) as event_time,
    case
        {{ spark_cdc._unreadable_message_cases('GoldenGate') | indent(8) }}
        {{ spark_cdc._unknown_message_case("'op_type'", 'op_type', codes) | indent(8) }}
        when event_op <> 'truncate' and old_row is null and new_row is null
            then 'neither before nor after; accepted is the operation model (format=json), not format=json_row'
        when event_op in ('insert', 'update', 'upsert') and new_row is null
            then concat(event_op, ' without an after image; accepted is a row under after')
        else {{ spark_cdc._message_order_problem(
            fields.order, needed, 'digits, digits:digits, or an LSN such as 0/16B3748 or 0000004d:00000c50:0003'
        ) | indent(8) }}
    end as event_problem,
    case event_op
        when 'update' then {{ spark_cdc._overlaid('new_row', 'old_row') }}
        when 'delete' then coalesce(old_row, new_row)
    end as event_before,
    if(event_op in ('insert', 'update', 'upsert'), new_row, null) as event_after,
    {{ spark_cdc._event_origin(['table_name']) | indent(4) }} as event_origin,
    landed_row
from named
{%- endmacro -%}


{#- A position of the trail or of the source's log as three numbers. 20 digits are those of the
    trail: file and offset. Digits alone are a number, `a:b` are two; `X/Y` is an LSN of PostgreSQL,
    and 8:8:4 hexadecimal digits are one of SQL Server.
    Returns a list of expressions; null where the text is none of these. -#}
{%- macro _goldengate_order(text) -%}
{%- set trail -%}{{ text }} rlike '^[0-9]{20}$'{%- endset -%}
{%- set number -%}{{ text }} rlike '^[0-9]{1,19}$'{%- endset -%}
{%- set pair -%}{{ text }} rlike '^[0-9]{1,18}:[0-9]{1,18}$'{%- endset -%}
{%- set lsn -%}{{ text }} rlike '^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$'{%- endset -%}
{%- set triple -%}{{ text }} rlike '^[0-9A-Fa-f]{8}:[0-9A-Fa-f]{8}:[0-9A-Fa-f]{4}$'{%- endset -%}
{%- set first -%}
case when {{ trail }} then try_cast(left({{ text }}, 10) as bigint) {# -#}
when {{ pair }} then try_cast(substring_index({{ text }}, ':', 1) as bigint) {# -#}
when {{ lsn }} then try_cast(conv(substring_index({{ text }}, '/', 1), 16, 10) as bigint) {# -#}
when {{ triple }} then try_cast(conv(left({{ text }}, 8), 16, 10) as bigint) {# -#}
when {{ number }} then 0 end
{%- endset -%}
{%- set second -%}
case when {{ trail }} then try_cast(right({{ text }}, 10) as bigint) {# -#}
when {{ pair }} then try_cast(substring_index({{ text }}, ':', -1) as bigint) {# -#}
when {{ lsn }} then try_cast(conv(substring_index({{ text }}, '/', -1), 16, 10) as bigint) {# -#}
when {{ triple }} then try_cast(conv(substring({{ text }}, 10, 8), 16, 10) as bigint) {# -#}
when {{ number }} then try_cast({{ text }} as bigint) end
{%- endset -%}
{%- set third -%}
if({{ triple }}, try_cast(conv(right({{ text }}, 4), 16, 10) as bigint), 0)
{%- endset -%}
    {{ return([first, second, third]) }}
{%- endmacro -%}


{#- An image without the columns that GoldenGate says it did not capture: with
    includeIsMissingFields=true each column has a neighbour `<column>_isMissing`, and a missing one
    is null, which would set it to null. -#}
{%- macro _goldengate_present(image) -%}
if(
    contains(message, '_isMissing"'),
    map_filter({{ image }}, (name, value) -> not endswith(name, '_isMissing') {# -#}
    and coalesce({{ image }}[concat(name, '_isMissing')], 'false') <> 'true'),
    {{ image }}
)
{%- endmacro -%}


{%- macro _events_goldengate_format() -%}
    {{ return({'settings': {'table': none, 'order_fields': none}, 'has_order': true, 'landed_row': true, 'origin': true}) }}
{%- endmacro -%}
