{#- Lands and writes the events of a load. Arguments: capture, sql (of _events_query()). -#}
{%- macro _load_events(capture, sql) -%}
    {%- set load = spark_cdc._commented_load(sql) -%}
    {%- if (spark_cdc._replay() or {}).get('source') == 'archive' -%}
        {%- do spark_cdc._check_archive(capture, load) -%}
    {%- else -%}
        {%- do spark_cdc._land(capture.entity, spark_cdc._landing_source(capture.entity), spark_cdc._business_time()) -%}
    {%- endif -%}
    {%- set columns = spark_cdc._settled_columns(capture.entity, capture.events, spark_cdc._events_table_columns(capture.entity, load.layout)) -%}
    {%- do run_query(spark_cdc._create_table_sql(
        capture.events, columns, capture.entity.file_format, ['business_date', 'load_id'], ['key_hash', 'event_hash'])) -%}
    {%- do spark_cdc._set_session() -%}
    {%- call statement('main') -%}
        {{ spark_cdc._write_rows_sql(capture.events, columns, ['business_date', 'load_id'], sql, 'events_of_load') }}
    {%- endcall -%}
{%- endmacro -%}


{#- The columns of <entity>_events, as they lie there. -#}
{%- macro _events_table_columns(entity, layout) -%}
    {{ return(spark_cdc._placed_columns(spark_cdc._event_columns(entity) + [
        {'name': 'business_date', 'sql': 'business_date', 'data_type': 'date'},
        {'name': 'load_id', 'sql': 'load_id', 'data_type': 'string'},
    ], layout, former_keys=true)) }}
{%- endmacro -%}
