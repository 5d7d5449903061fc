{#- Lands and writes the events of a load. Arguments: capture, sql (of _events_query()). -#}
{%- macro _load_events(capture, sql) -%}
    {%- set entity, load = capture.entity, spark_cdc._load_of_comment(sql) -%}
    {%- set partitions, is_kept = ['business_date', 'load_id'], entity.events.archive -%}
    {%- set columns = spark_cdc._placed_columns(spark_cdc._event_columns(entity) + [
        {'name': 'business_date', 'sql': 'business_date', 'data_type': 'date'},
        {'name': 'load_id', 'sql': 'load_id', 'data_type': 'string'},
    ], load.layout, former_keys=true) -%}
    {%- if not spark_cdc._is_load_command() -%}
        {{ return(spark_cdc._create_only(entity, capture.events, columns, partitions, ['key_hash', 'event_hash'], is_kept)) }}
    {%- endif -%}
    {%- if spark_cdc._is_archive_replay() -%}
        {%- do spark_cdc._check_archive(capture, load) -%}
        {%- set files = none -%}
    {%- else -%}
        {%- set files = spark_cdc._land_load(entity, spark_cdc._landing_source(entity), spark_cdc._business_time_of(entity.name)) -%}
    {%- endif -%}
    {%- set columns = spark_cdc._settled_table(entity, capture.events, columns, partitions, ['key_hash', 'event_hash'], is_kept) -%}
    {%- do spark_cdc._set_session(capture.events, spark_cdc._is_small_load(load, files)) -%}
    {%- call statement('main') -%}
        {{ spark_cdc._write_rows_sql(capture.events, columns, partitions, sql, 'events_of_load') }}
    {%- endcall -%}
    {%- if files -%}
        {%- set now = spark_cdc._input_files(entity, spark_cdc._business_time_of(entity.name)) -%}
        {%- do spark_cdc._check_unchanged(entity, load, files, now, {'files': now}) -%}
    {%- endif -%}
{%- endmacro -%}
