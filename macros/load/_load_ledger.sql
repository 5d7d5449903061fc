{#- Lands what came in (change events are there already, in <entity>_events), writes the load, by a second statement what is gone where the plan says so,
    and holds the keys of rejected rows.
    Arguments: capture, sql (of _ledger_query()). -#}
{%- macro _load_ledger(capture, sql) -%}
    {%- set entity, load = capture.entity, spark_cdc._load_of_comment(sql) -%}
    {%- set partitions = ['business_date', 'load_id', 'operation'] -%}
    {%- set columns = spark_cdc._ledger_columns(entity, load.layout) -%}
    {%- if not spark_cdc._is_load_command() -%}
        {%- for table in [capture.ledger, capture.masked] | unique -%}
            {%- do spark_cdc._create_only(entity, table, columns, partitions, ['key_hash', 'nonkey_hash']) -%}
        {%- endfor -%}
        {{ return('') }}
    {%- endif -%}
    {%- do adapter.cache_added(spark_cdc._load_again_mark(capture, 'ledger')) -%}
    {%- set events = load.get('events') or {} -%}
    {%- set is_small = spark_cdc._is_short_stream(events.get('event_count', 10 ** 6)) and spark_cdc._is_small_load(load, {'bytes': 0}) -%}
    {%- if not entity.events -%}
        {%- set files = spark_cdc._land_load(entity, spark_cdc._landing_source(entity), spark_cdc._business_time_of(entity.name)) -%}
        {%- set is_small = spark_cdc._is_small_load(load, files) -%}
        {%- set load = dict(load, files=spark_cdc._input_files_noted(files)) -%}
    {%- endif -%}
    {%- set begun = none if load.get('parent') or load.get('replaced') else capture -%}
    {%- set columns = spark_cdc._settled_table(entity, capture.ledger, columns, partitions, ['key_hash', 'nonkey_hash'], begun=begun) -%}
    {%- do spark_cdc._set_session(capture.ledger, is_small) -%}
    {%- set order = spark_cdc._cluster_order(
        entity, columns, capture.ledger, [load.base] if load.base else [], load.prior_rows) if load.is_checkpoint else none -%}
    {%- if order -%}{%- do spark_cdc._set_file_size(entity, [load.prior_rows, (load.files or {}).get("bytes", 0) // 50] | max) -%}{%- endif -%}
    {%- call statement('main') -%}
        {{ spark_cdc._write_loads_sql(capture.ledger, columns, [] if load.get('deletes_apart') else [load], sql, order) }}
    {%- endcall -%}
    {%- if order -%}{%- do spark_cdc._reset_file_size() -%}{%- endif -%}
    {%- if load.get('deletes_apart') -%}{%- do spark_cdc._write_deleted(capture, load, columns) -%}{%- endif -%}
    {%- do spark_cdc._hold_rejected(capture, load, columns) -%}
    {%- do spark_cdc._write_masked_ledger(capture, [load.load_id], load.layout, begun) -%}
{%- endmacro -%}
