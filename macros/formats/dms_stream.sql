{#- Change-event format `dms_stream`: the JSON messages that AWS Database Migration Service sends to
    Kafka or Kinesis. One row a message. -#}
{%- macro _events_dms_stream(entity, landed) -%}
{%- set codes = {'load': 'read', 'insert': 'insert', 'update': 'update', 'delete': 'delete'} -%}
{%- set fields = spark_cdc._message_fields(entity, [
    ['data', 'map<string, string>', 'sent_row'], ['metadata', 'string', 'metadata_text'], ['before-image', 'map<string, string>', 'old_values'],
], ['offset']) -%}
{%- set table = ["about['schema-name']", "about['table-name']"] -%}
{%- set parts = fields.order | map(attribute='number') | list -%}
{%- set names = spark_cdc._literals(entity.stored | map(attribute='from')) -%}
with parsed as (
    {{ spark_cdc._parsed_messages(entity, landed, fields.known) | indent(4) }}
),

described as (
    select
        *,
        from_json(metadata_text, 'map<string, string>') as about
    from parsed
),

named as (
    select
        *,
        {{ spark_cdc._message_operation(
            entity, codes, "about['operation']", table, "about['record-type'] = 'control'"
        ) | indent(8) }} as event_op,
        {%- if entity.events.get('nulls') == 'sent' %}
        sent_row as new_row
        {%- else %}
        -- what is null is not sent
        {{ spark_cdc._overlaid('map_from_arrays(array(%s), array_repeat(cast(null as string), %s))' | format(names, entity.stored | length), 'sent_row') }} as new_row
        {%- endif %}
    from described
)

select
    event_op,
    {{ spark_cdc._message_position(parts) | indent(4) }} as event_position,
    if(event_op = 'control', null, about['transaction-id']) as event_transaction,
    if(event_op = 'control', null, coalesce(
        {{ spark_cdc._cast_instant("about['commit-timestamp']", none, entity.timezone) }},
        {{ spark_cdc._cast_instant("about['timestamp']", none, entity.timezone) }}
    )) as event_time,
    case
        {{ spark_cdc._unreadable_message_cases('DMS', 'one message a line, with data and metadata') | indent(8) }}
        when about is null then 'no metadata; accepted is a message with data and metadata, as DMS sends it'
        {{ spark_cdc._unknown_message_case("'metadata.operation'", "about['operation']", codes) | indent(8) }}
        when coalesce(size(sent_row), 0) < 1 then 'no data; accepted is the row under data'
        {%- if entity.events.get('nulls') == 'sent' %}
        {{ spark_cdc._lost_columns_case(
            'old_values', 'sent_row', 'before-image', 'data',
            'data with its nulls, which DMS sends with IncludeNullAndEmpty=true; without that setting it is events.nulls: omitted'
        ) | indent(8) }}
        {%- endif %}
        when event_op <> 'read'
            then {{ spark_cdc._message_order_problem(fields.order, parts, 'a whole number, such as the offset of the topic beside the message') | indent(12) }}
    end as event_problem,
    case event_op
        when 'update' then {{ spark_cdc._overlaid('new_row', 'old_values') }}
        when 'delete' then coalesce(old_values, sent_row)
    end as event_before,
    if(event_op in ('insert', 'update', 'read'), new_row, null) as event_after,
    {{ spark_cdc._event_origin(table) | indent(4) }} as event_origin,
    landed_row
from named
{%- endmacro -%}


{%- macro _events_dms_stream_format() -%}
    {{ return({'settings': {'table': none, 'order_fields': none, 'nulls': ['omitted', 'sent']}, 'has_order': true, 'landed_row': true, 'origin': true}) }}
{%- endmacro -%}
