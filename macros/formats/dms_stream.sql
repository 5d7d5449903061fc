{#- Change-event format `dms_stream`: the JSON messages that AWS Database Migration Service sends to
    Kafka or Kinesis. One row a message. What is null is not sent, unless it says so. -#}
{%- macro _events_dms_stream(entity, landed) -%}
{%- set sends_nulls = entity.events.get('nulls') == 'sent' -%}
{%- set names = spark_cdc._literals(entity.stored | map(attribute='from')) -%}
{%- set no_values = 'map_from_arrays(array(' ~ names ~ '), array_repeat(cast(null as string), ' ~ entity.stored | length ~ '))' -%}
{%- set faults -%}
when coalesce(size(sent_row), 0) < 1 then 'no data; accepted is the row under data'
{%- if sends_nulls %}
{{ spark_cdc._lost_columns_case(
    'old_values', 'sent_row', 'before-image', 'data',
    'data with its nulls, which DMS sends with IncludeNullAndEmpty=true; without that setting it is events.nulls: omitted'
) }}
{%- endif %}
{%- endset -%}
{%- set time -%}
coalesce(
    {{ spark_cdc._cast_instant("about['commit-timestamp']", none, entity.timezone) }},
    {{ spark_cdc._cast_instant("about['timestamp']", none, entity.timezone) }}
)
{%- endset -%}
{{ spark_cdc.document_events(entity, landed, {
    'tool': 'DMS', 'accepted': 'one message a line, with data and metadata',
    'fields': [
        ['data', 'map<string, string>', 'sent_row'], ['metadata', 'string', 'metadata_text'],
        ['before-image', 'map<string, string>', 'old_values'],
    ],
    'opened': {'about': "from_json(metadata_text, 'map<string, string>')"},
    'table': ["about['schema-name']", "about['table-name']"],
    'code': "about['operation']", 'label': "'metadata.operation'",
    'codes': {'load': 'read', 'insert': 'insert', 'update': 'update', 'delete': 'delete'},
    'control': "about['record-type'] = 'control'",
    'named': {'new_row': 'sent_row' if sends_nulls else spark_cdc._overlaid(no_values, 'sent_row')},
    'order': ['offset'], 'accepted_order': 'a whole number, such as the offset of the topic beside the message',
    'transaction': "about['transaction-id']",
    'time': time,
    'first_faults': "when about is null then 'no metadata; accepted is a message with data and metadata, as DMS sends it'",
    'faults': faults,
    'changed': 'old_values', 'deleted': 'coalesce(old_values, sent_row)',
}) }}
{%- endmacro -%}


{%- macro _events_dms_stream_format() -%}
    {{ return({'shape': 'documents', 'settings': {'table': none, 'order_fields': none, 'nulls': ['omitted', 'sent']}}) }}
{%- endmacro -%}
