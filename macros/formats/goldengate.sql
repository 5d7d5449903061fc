{#- Change-event format `goldengate`: the JSON messages of Oracle GoldenGate with before and after
    images (the operation model, `format=json`). One row a message. -#}
{%- macro _events_goldengate(entity, landed) -%}
{%- set read = spark_cdc._message_fields(entity, [
    ['table', 'string', 'table_name'], ['op_type', 'string', 'op_type'], ['op_ts', 'string', 'op_ts'], ['pos', 'string', 'pos'],
    ['xid', 'string', 'transaction_id'], ['before', 'map<string, string>', 'before_image'],
    ['after', 'map<string, string>', 'after_image'], ['$schema', 'string', 'json_schema'],
], ['pos']) -%}
{%- for field in read.order -%}
    {%- set parts = spark_cdc._goldengate_order(field.text) -%}
    {%- do field.update({'parts': parts, 'number': parts[1]}) -%}
{%- endfor -%}
{%- set faults -%}
when old_row is null and new_row is null
    then 'neither before nor after; accepted is the operation model (format=json), not format=json_row'
when event_op in ('insert', 'update', 'upsert') and new_row is null
    then concat(event_op, ' without an after image; accepted is a row under after')
{%- endset -%}
{{ spark_cdc.document_events(entity, landed, {
    'tool': 'GoldenGate',
    'read': read,
    'table': ['table_name'],
    'code': 'op_type', 'ignores_case': true, 'label': "'op_type'",
    'codes': {
        'I': 'insert', 'U': 'update', 'D': 'delete', 'T': 'truncate', 'INSERT': 'insert', 'UPDATE': 'update',
        'DELETE': 'delete', 'TRUNCATE': 'truncate', 'UPSERT': 'upsert', 'DDL': 'control', 'STREAM_METADATA': 'control',
        'OBJECT_METADATA': 'control',
    },
    'control': 'op_type is null and json_schema is not null',
    'named': {
        'old_row': spark_cdc._goldengate_present('before_image'),
        'new_row': spark_cdc._goldengate_present('after_image'),
    },
    'accepted_order': 'digits, digits:digits, or an LSN such as 0/16B3748 or 0000004d:00000c50:0003',
    'transaction': 'transaction_id',
    'time': spark_cdc._cast_instant('op_ts', none, entity.timezone),
    'faults': faults,
    'changed': 'old_row', 'deleted': 'coalesce(old_row, new_row)',
}) }}
{%- endmacro -%}


{#- A position of the trail or of the source's log as three numbers. 20 digits are those of the
    trail: file and offset. Digits alone are a number, `a:b` are two; `X/Y` is an LSN of PostgreSQL,
    and 8:8:4 hexadecimal digits are one of SQL Server.
    Returns a list of expressions; null where the text is none of these. -#}
{%- macro _goldengate_order(text) -%}
{%- set forms = [
    ['^[0-9]{20}$', 'left(%s, 10)', 'right(%s, 10)', ''],
    ['^[0-9]{1,18}:[0-9]{1,18}$', "substring_index(%s, ':', 1)", "substring_index(%s, ':', -1)", ''],
    ['^[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}$', "substring_index(%s, '/', 1)", "substring_index(%s, '/', -1)", 'hex'],
    ['^[0-9A-Fa-f]{8}:[0-9A-Fa-f]{8}:[0-9A-Fa-f]{4}$', 'left(%s, 8)', 'substring(%s, 10, 8)', 'hex'],
    ['^[0-9]{1,19}$', "'0'", '%s', ''],
] -%}
{%- set parts = [] -%}
{%- for place in [1, 2] -%}
    {%- set part -%}
case{% for form in forms %}{% set number = form[place].replace('%s', text) %} when {{ text }} rlike '{{ form[0] }}' {# -#}
then try_cast({{ 'conv(' ~ number ~ ', 16, 10)' if form[3] else number }} as bigint){% endfor %} end
    {%- endset -%}
    {%- do parts.append(part) -%}
{%- endfor -%}
{%- set third -%}
if({{ text }} rlike '{{ forms[3][0] }}', try_cast(conv(right({{ text }}, 4), 16, 10) as bigint), 0)
{%- endset -%}
    {{ return(parts + [third]) }}
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


{%- macro _events_goldengate_format() -%}{{ return({'shape': 'documents'}) }}{%- endmacro -%}
