{#- Lands and writes the events of a load, unless <entity>_ledger lands them (_is_landed_by_ledger()). Arguments: capture, sql (of _events_query()). -#}
{%- macro _load_events(capture, sql) -%}
    {%- set entity, load = capture.entity, spark_cdc._load_of_comment(sql) -%}
    {%- if not spark_cdc._is_load_command() -%}
        {{ return(spark_cdc._create_only(entity, capture.events, spark_cdc._load_events_columns(entity, load.layout), ['business_date', 'load_id'],
            ['key_hash', 'event_hash'], entity.events.archive)) }}
    {%- endif -%}
    {%- do adapter.cache_added(spark_cdc._load_again_mark(capture, 'events')) -%}
    {%- if spark_cdc._is_landed_by_ledger(entity) -%}
        {%- do spark_cdc._load_events_settled(capture, load) -%}
        {%- do store_raw_result('main', message='OK', code='OK', rows_affected='-1') -%}
        {{ return('') }}
    {%- endif -%}
    {%- if spark_cdc._is_archive_replay() -%}
        {%- do spark_cdc._check_archive(capture, load) -%}
        {%- set files = none -%}
    {%- else -%}
        {%- set files = spark_cdc._land_load(entity, spark_cdc._landing_source(entity), spark_cdc._business_time_of(entity.name)) -%}
    {%- endif -%}
    {%- set columns = spark_cdc._load_events_settled(capture, load) -%}
    {%- do spark_cdc._set_session(capture.events, spark_cdc._is_small_load(load, files)) -%}
    {%- call statement('main') -%}
        {{ spark_cdc._write_rows_sql(capture.events, columns, ['business_date', 'load_id'], sql, 'events_of_load') }}
    {%- endcall -%}
    {%- if files -%}
        {%- set now = spark_cdc._input_files(entity, spark_cdc._business_time_of(entity.name)) -%}
        {%- do spark_cdc._check_unchanged(entity, load, files, now, {'files': now}) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Makes sure that <entity>_events is there, and returns all the columns that it has (of _settled_table()). -#}
{%- macro _load_events_settled(capture, load) -%}
    {%- set columns = spark_cdc._load_events_columns(capture.entity, load.layout) -%}
    {{ return(spark_cdc._settled_table(capture.entity, capture.events, columns, ['business_date', 'load_id'], ['key_hash', 'event_hash'],
        capture.entity.events.archive, begun=none if load.get('parent') or load.get('replaced') else capture)) }}
{%- endmacro -%}


{#- The columns of <entity>_events with its partitions, where they lie under a layout. -#}
{%- macro _load_events_columns(entity, layout) -%}
    {{ return(spark_cdc._placed_columns(spark_cdc._event_columns(entity) + [
        {'name': 'business_date', 'sql': 'business_date', 'data_type': 'date'},
        {'name': 'load_id', 'sql': 'load_id', 'data_type': 'string'},
    ], layout, former_keys=true)) }}
{%- endmacro -%}
