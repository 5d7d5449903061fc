{#- Change-event format `dms`: what AWS Database Migration Service writes to S3, as CSV or Parquet.
    Rows without an operation are those of a full load, which have no position. -#}
{%- macro _events_dms(entity, typed) -%}
{%- set events = entity.events -%}
{%- set committed = spark_cdc._named_column(entity, events.get('timestamp_column')) -%}
{%- set problems = [] -%}
{%- if committed and committed.data_type == 'string' -%}
    {%- set no_time -%}
if(event_op <> 'read' and event_time is null and {{ committed.sql }} is not null, {# -#}
concat('time ', {{ spark_cdc._shown(committed.sql) }}, {# -#}
{{ spark_cdc._literal(' in ' ~ committed.name ~ '; accepted is yyyy-MM-dd HH:mm:ss.SSSSSS') }}), null)
    {%- endset -%}
    {%- do problems.append(no_time) -%}
{%- endif -%}
{{ spark_cdc.row_events(entity, typed, {
    'operation': events.get('operation') or 'Op',
    'codes': {'I': 'insert', 'U': 'update', 'D': 'delete', '': 'read'},
    'time': events.get('timestamp_column'),
    'position': spark_cdc._order_parts(events.order) or ['unix_micros(event_time)'], 'unplaced': "event_op = 'read'",
    'problems': problems,
}) }}
{%- endmacro -%}


{#- A full load lacks the operation. DMS writes the time of the commit as text. -#}
{%- macro _events_dms_format() -%}
    {{ return({
        'shape': 'rows',
        'settings': {'operation': 'column', 'timestamp_column': 'time', 'transaction': 'column', 'old_key': 'old key'},
        'columns': [
            {'name': 'Op', 'setting': 'operation', 'data_type': 'string'},
            {'setting': 'timestamp_column', 'data_type': 'string', 'required': true},
        ],
        'order_setting': 'timestamp_column',
        'no_order': 'events.timestamp_column is missing: set TimestampColumnName at the S3 endpoint of DMS and give that name here, '
            ~ 'or name columns that give the order under events.order',
    }) }}
{%- endmacro -%}
