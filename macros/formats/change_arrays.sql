{#- Change-event format `change_arrays`: JSON messages with arrays of names and values, and of old
    names and values (`changeType`, `timestamp`, `columnNames`, `columnValues`, `oldKeyNames`,
    `oldKeyValues`). Other names of the fields are given under events.fields. One row a message. -#}
{%- macro _events_change_arrays(entity, landed) -%}
{%- set codes = {'INSERT': 'insert', 'UPDATE': 'update', 'UPSERT': 'upsert', 'DELETE': 'delete', 'TRUNCATE': 'truncate',
    'READ': 'read', 'HEARTBEAT': 'control', 'BEGIN': 'control', 'COMMIT': 'control'} -%}
{%- set name_of = dict(spark_cdc._change_arrays_fields(), **(entity.events.get('fields') or {})) -%}
{%- set fields = spark_cdc._message_fields(entity, [
    [name_of['change_type'], 'string', 'change_type'], [name_of['timestamp'], 'string', 'happened'],
    [name_of['table'], 'string', 'table_name'], [name_of['transaction'], 'string', 'transaction_id'],
    [name_of['column_names'], 'array<string>', 'new_names'], [name_of['column_values'], 'array<string>', 'new_values'],
    [name_of['old_key_names'], 'array<string>', 'old_names'], [name_of['old_key_values'], 'array<string>', 'old_values'],
], [name_of['timestamp']]) -%}
{%- set parts = [] -%}
{%- for field in fields.order -%}
    {%- do parts.append(spark_cdc._change_arrays_order(entity) if field.text == 'happened' else field.number) -%}
{%- endfor -%}
{%- set or_time = ', and for ' ~ name_of['timestamp'] ~ ' a time such as 2024-05-01T10:00:00Z too' -%}
{%- set order_problem = spark_cdc._message_order_problem(
    fields.order, parts, 'a whole number' ~ (or_time if 'happened' in fields.order | map(attribute='text') else '')) -%}
with parsed as (
    {{ spark_cdc._parsed_messages(entity, landed, fields.known) | indent(4) }}
),

named as (
    select
        *,
        {{ spark_cdc._message_operation(entity, codes, 'upper(change_type)', ['table_name']) | indent(8) }} as event_op
    from parsed
),

mapped as (
    select
        *,
        {{ spark_cdc._named_values('new_names', 'new_values') }} as new_row,
        {{ spark_cdc._named_values('old_names', 'old_values') }} as old_row
    from named
)

select
    event_op,
    {{ spark_cdc._message_position(parts) | indent(4) }} as event_position,
    if(event_op = 'control', null, transaction_id) as event_transaction,
    if(event_op = 'control', null, {{ spark_cdc._change_arrays_time(entity) }}) as event_time,
    case
        {{ spark_cdc._unreadable_message_cases('change arrays', 'one message a line, with ' ~ name_of.values() | join(', ')) | indent(8) }}
        {{ spark_cdc._unknown_message_case(spark_cdc._literal(name_of['change_type']), 'change_type', codes) | indent(8) }}
        when event_op = 'truncate'
            then {{ order_problem | indent(12) }}
        else coalesce(
            {{ spark_cdc._named_values_problem('new_names', 'new_values', name_of['column_names']) | indent(12) }},
            {{ spark_cdc._named_values_problem('old_names', 'old_values', name_of['old_key_names']) | indent(12) }},
            if(
                event_op <> 'delete' and coalesce(size(new_row), 0) < 1,
                concat(event_op, ' without {{ name_of['column_names'] }}; accepted is at least one name with its value'), null
            ),
            if(
                event_op = 'delete' and coalesce(size(old_row), 0) < 1 and coalesce(size(new_row), 0) < 1,
                'delete without a key; accepted are {{ name_of['old_key_names'] }} with {{ name_of['old_key_values'] }}', null
            ),
            if(
                event_op = 'read', null,
                {{ order_problem | indent(16) }}
            )
        )
    end as event_problem,
    case
        when event_op = 'delete' then if(coalesce(size(old_row), 0) < 1, new_row, old_row)
        when event_op in ('insert', 'update', 'upsert') and size(old_row) > 0 then old_row
    end as event_before,
    if(event_op in ('insert', 'update', 'upsert', 'read'), new_row, null) as event_after,
    {{ spark_cdc._event_origin(['table_name']) | indent(4) }} as event_origin,
    landed_row
from mapped
{%- endmacro -%}


{#- The fields of a message, by what they are, with the names that they have by default. -#}
{%- macro _change_arrays_fields() -%}
    {{ return({
        'change_type': 'changeType', 'timestamp': 'timestamp', 'table': 'table', 'transaction': 'xid',
        'column_names': 'columnNames', 'column_values': 'columnValues',
        'old_key_names': 'oldKeyNames', 'old_key_values': 'oldKeyValues',
    }) }}
{%- endmacro -%}


{#- The time of a message as a number that sorts: a number as it is (in microseconds where its unit
    is known, so that 1.5 seconds count), a text as microseconds. -#}
{%- macro _change_arrays_order(entity) -%}
{%- set scale = {'seconds': 1000000, 'millis': 1000, 'micros': 1}.get(entity.events.get('timestamp_unit')) -%}
{%- set number -%}
{%- if scale -%}
try_cast(try_multiply(try_cast(happened as decimal(28, 9)), {{ scale }}) as bigint)
{%- else -%}
try_cast(happened as bigint)
{%- endif -%}
{%- endset -%}
coalesce({{ number }}, unix_micros({{ spark_cdc._cast_instant('happened', none, entity.timezone) }}))
{%- endmacro -%}


{#- The time of a message as an instant: a text is one; a number if its unit is known. -#}
{%- macro _change_arrays_time(entity) -%}
{%- set unit = entity.events.get('timestamp_unit') -%}
{%- set number -%}
{%- if unit == 'nanos' -%}
timestamp_micros(try_cast(happened as bigint) div 1000)
{%- elif unit -%}
timestamp_micros({{ spark_cdc._change_arrays_order(entity) }})
{%- else -%}
cast(null as timestamp)
{%- endif -%}
{%- endset -%}
if(try_cast(happened as double) is not null, {{ number }}, {{ spark_cdc._cast_instant('happened', none, entity.timezone) }})
{%- endmacro -%}


{%- macro _events_change_arrays_format() -%}
    {%- set settings = {'table': none, 'fields': none, 'order_fields': none, 'timestamp_unit': ['seconds', 'millis', 'micros', 'nanos']} -%}
    {{ return({'settings': settings, 'has_order': true, 'landed_row': true, 'origin': true}) }}
{%- endmacro -%}


{%- macro _events_change_arrays_problems(entity) -%}
    {%- set fields = entity.events.get('fields') or {} -%}
    {%- if fields is not mapping -%}
        {{ return(['events.fields is not a mapping: write field: name in the message below it, such as change_type: op']) }}
    {%- endif -%}
    {{ return(spark_cdc._unknown_key_problems('events.fields', fields, spark_cdc._change_arrays_fields() | list)) }}
{%- endmacro -%}
