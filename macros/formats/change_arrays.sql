{#- Change-event format `change_arrays`: JSON messages with arrays of names and values, and of old
    names and values (`changeType`, `timestamp`, `columnNames`, `columnValues`, `oldKeyNames`,
    `oldKeyValues`). Other names of the fields are given under events.fields. One row a message. -#}
{%- macro _events_change_arrays(entity, landed) -%}
{%- set name_of = spark_cdc._change_arrays_fields() -%}
{%- do name_of.update(entity.events.get('fields') or {}) -%}
{%- set read = spark_cdc._message_fields(entity, [
    [name_of.change_type, 'string', 'change_type'], [name_of.timestamp, 'string', 'happened'],
    [name_of.table, 'string', 'table_name'], [name_of.transaction, 'string', 'transaction_id'],
    [name_of.column_names, 'array<string>', 'new_names'], [name_of.column_values, 'array<string>', 'new_values'],
    [name_of.old_key_names, 'array<string>', 'old_names'], [name_of.old_key_values, 'array<string>', 'old_values'],
], [name_of.timestamp]) -%}

{#- The time of a message: a text is an instant, a number one if its unit is known. As a number that
    sorts it is in microseconds, so that 1.5 seconds count, or the number itself. -#}
{%- set unit, text = entity.events.get('timestamp_unit'), spark_cdc._cast_instant('happened', none, entity.timezone) -%}
{%- set scale = {'seconds': 1000000, 'millis': 1000, 'micros': 1}.get(unit) -%}
{%- set scaled = 'try_cast(try_multiply(try_cast(happened as decimal(28, 9)), ' ~ scale ~ ') as bigint)' -%}
{%- set number = 'coalesce(' ~ (scaled if scale else 'try_cast(happened as bigint)') ~ ', unix_micros(' ~ text ~ '))' -%}
{%- set micros = 'try_cast(happened as bigint) div 1000' if unit == 'nanos' else number -%}
{%- set instant = 'timestamp_micros(' ~ micros ~ ')' if unit else 'cast(null as timestamp)' -%}
{%- set timed = read.order | selectattr('text', 'equalto', 'happened') | list -%}
{%- for field in timed -%}{%- do field.update({'number': number}) -%}{%- endfor -%}
{%- set accepted = 'a whole number' ~ (', and for ' ~ name_of.timestamp ~ ' a time such as 2024-05-01T10:00:00Z too' if timed else '') -%}

{%- set faults -%}
{{ spark_cdc._named_values_cases('new_names', 'new_values', 'new_row', name_of.column_names) }}
{{ spark_cdc._named_values_cases('old_names', 'old_values', 'old_row', name_of.old_key_names) }}
when event_op <> 'delete' and coalesce(size(new_row), 0) < 1
    then concat(event_op, ' without {{ name_of.column_names }}; accepted is at least one name with its value')
when event_op = 'delete' and coalesce(size(old_row), 0) < 1 and coalesce(size(new_row), 0) < 1
    then 'delete without a key; accepted are {{ name_of.old_key_names }} with {{ name_of.old_key_values }}'
{%- endset -%}
{%- set before -%}
case
    when event_op = 'delete' then if(coalesce(size(old_row), 0) < 1, new_row, old_row)
    when event_op in ('insert', 'update', 'upsert') and size(old_row) > 0 then old_row
end
{%- endset -%}
{{ spark_cdc.document_events(entity, landed, {
    'tool': 'change arrays', 'accepted': 'one message a line, with ' ~ name_of.values() | join(', '),
    'read': read,
    'table': ['table_name'],
    'code': 'change_type', 'ignores_case': true, 'label': spark_cdc._literal(name_of.change_type),
    'codes': {
        'INSERT': 'insert', 'UPDATE': 'update', 'UPSERT': 'upsert', 'DELETE': 'delete', 'TRUNCATE': 'truncate',
        'READ': 'read', 'HEARTBEAT': 'control', 'BEGIN': 'control', 'COMMIT': 'control',
    },
    'named': {
        'new_row': spark_cdc._named_values('new_names', 'new_values'),
        'old_row': spark_cdc._named_values('old_names', 'old_values'),
    },
    'accepted_order': accepted,
    'transaction': 'transaction_id',
    'time': 'if(try_cast(happened as double) is not null, ' ~ instant ~ ', ' ~ text ~ ')',
    'faults': faults,
    'before': before,
}) }}
{%- endmacro -%}


{#- The fields of a message, by what they are, with the names that they have by default. -#}
{%- macro _change_arrays_fields() -%}
    {{ return({
        'change_type': 'changeType', 'timestamp': 'timestamp', 'table': 'table', 'transaction': 'xid',
        'column_names': 'columnNames', 'column_values': 'columnValues',
        'old_key_names': 'oldKeyNames', 'old_key_values': 'oldKeyValues',
    }) }}
{%- endmacro -%}


{%- macro _events_change_arrays_format() -%}
    {{ return({'shape': 'documents', 'problems': true, 'reads': 'first', 'settings': {
        'table': none, 'fields': none, 'order_fields': none, 'timestamp_unit': ['seconds', 'millis', 'micros', 'nanos'],
    }}) }}
{%- endmacro -%}


{%- macro _events_change_arrays_problems(entity) -%}
    {%- set fields = entity.events.get('fields') or {} -%}
    {%- if fields is not mapping -%}
        {{ return(['events.fields is not a mapping: write field: name in the message below it, such as change_type: op']) }}
    {%- endif -%}
    {{ return(spark_cdc._unknown_key_problems('events.fields', fields, spark_cdc._change_arrays_fields() | list)) }}
{%- endmacro -%}
