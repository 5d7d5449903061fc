{#- Change-event format `dms`: what AWS Database Migration Service writes to S3, as CSV or Parquet.
    Rows without an operation are those of a full load. -#}
{%- macro _events_dms(entity, typed) -%}
{%- set events = entity.events -%}
{%- set operation = spark_cdc._named_column(entity, events.get('operation', 'Op')) -%}
{%- set codes = {'I': 'insert', 'U': 'update', 'D': 'delete', '': 'read'} -%}
{%- set committed = spark_cdc._named_column(entity, events.get('timestamp_column')) -%}
{%- set parts = spark_cdc._order_parts(events.order) or ['unix_micros(event_time)'] -%}
select
    *,
    if(event_op = 'read', null, array({{ parts | join(', ') }})) as event_position,
    {{ spark_cdc._event_text(entity, spark_cdc._named_column(entity, events.get('transaction'))) }} as event_transaction,
    coalesce(
        {{ spark_cdc._coded_operation_problem(operation.name, operation.sql, codes) | indent(8) }}
        {%- if committed is not none and committed.data_type == 'string' %},
        {%- set accepted = ' in ' ~ committed.name ~ '; accepted is yyyy-MM-dd HH:mm:ss.SSSSSS' %}
        if(event_op <> 'read' and event_time is null and {{ committed.sql }} is not null, {# -#}
        concat('time ', {{ spark_cdc._shown(committed.sql) }}, {{ spark_cdc._literal(accepted) }}), null)
        {%- endif %}
    ) as event_problem,
    {{ spark_cdc._old_key_map(entity) | indent(4) }} as event_before
from (
    select
        *,
        {{ spark_cdc._coded_operation(operation.sql, codes) | indent(8) }} as event_op,
        {{ spark_cdc._event_instant(entity, committed) }} as event_time
    from {{ typed }}
) as parsed
{%- endmacro -%}


{#- The technical columns: the operation, which a full load lacks, and the time of the commit. DMS
    writes both as text. -#}
{%- macro _events_dms_columns(entity) -%}
    {%- set columns = [{'name': entity.events.get('operation', 'Op'), 'data_type': 'string', 'required': false}] -%}
    {%- if entity.events.get('timestamp_column') -%}
        {%- do columns.append({'name': entity.events.timestamp_column, 'data_type': 'string', 'required': true}) -%}
    {%- endif -%}
    {{ return(columns) }}
{%- endmacro -%}


{%- macro _events_dms_format() -%}
    {{ return({'settings': {'operation': none, 'timestamp_column': none, 'old_key': none, 'transaction': none}}) }}
{%- endmacro -%}


{%- macro _events_dms_problems(entity) -%}
    {%- set no_order = [
        (not entity.events.get('timestamp_column') and not entity.events.order,
         'events.timestamp_column is missing: set TimestampColumnName at the S3 endpoint of DMS and give that name here, '
         'or name columns that give the order under events.order'),
    ] -%}
    {{ return(
        spark_cdc._adapter_column_problems(entity, ['operation', 'timestamp_column', 'transaction'], 'timestamp_column')
        + spark_cdc._broken({}, no_order)
        + spark_cdc._order_type_problems('events.order', entity.events.order)
        + spark_cdc._old_key_map_problems(entity)
    ) }}
{%- endmacro -%}
