{#- Where the steps of a load find its events, and what these are like. Events that are read again from their source are a temporary view, as long
    as nothing but plain rows is in it: the types are the declared ones, and no event is rejected. The audit holds that the files are what they
    were. All others are written into <entity>_events, so that they are cast and judged once.
    What of a change feed is read is decided here, too, and noted in the record of the load.
    Arguments: run (of _ledger_query()), written (relation <entity>_events, which holds them unless they are read again). Returns a dictionary:
    relation, summary (of _summarized()), noted (what the record of the load says of it). -#}
{%- macro _staged_events(run, written) -%}
    {%- set load, partition = run.load, spark_cdc._events_of_load(run.entity, written, run.load) -%}
    {%- if not spark_cdc._is_landed_by_ledger(run.entity) -%}
        {%- set is_archived = run.entity.source.format == 'change_feed' and spark_cdc._is_archive_replay() -%}
        {%- if not spark_cdc._is_load_again(run, 'events') -%}
            {{ return({'relation': partition, 'summary': spark_cdc._summarized(run, partition),
                'noted': {'feed': spark_cdc._change_feed_of_replaced(run)} if is_archived else {}}) }}
        {%- elif spark_cdc._is_archive_replay() or not spark_cdc._is_plainly_staged(run.entity.name) -%}
            {%- do spark_cdc._refuse_load_again(run) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set run = spark_cdc._run_with_change_feed(run) -%}
    {%- set entity = run.entity -%}
    {%- set files = spark_cdc._land_load(entity, spark_cdc._landing_source(entity), run.time) -%}
    {%- set noted = {'feed': entity.source.feed} if entity.source.format == 'change_feed' else {'files': spark_cdc._input_files_noted(files)} -%}
    {%- if spark_cdc._can_be_read_again(entity) and spark_cdc._is_read_again_as_typed(entity) -%}
        {%- set view = spark_cdc._read_again_view(entity) -%}
        {%- do spark_cdc._set_for_staging() -%}
        {%- do spark_cdc._create_read_again_view(entity) -%}
        {%- set summary = spark_cdc._checked_summary(run, view) -%}
        {%- if not summary.rejected -%}
            {{ return({'relation': view, 'summary': summary, 'noted': dict(noted, read_again=true)}) }}
        {%- endif -%}
    {%- endif -%}
    {%- set columns = spark_cdc._load_events_settled(run, load) -%}
    {%- do spark_cdc._set_session(run.events, spark_cdc._is_small_load(load, files)) -%}
    {%- set sql = spark_cdc._event_rows_sql(entity, load, '(\n' ~ spark_cdc._stage_events_sql(entity, spark_cdc._landed_view(entity)) ~ '\n) as staged') -%}
    {%- do spark_cdc._send(spark_cdc._write_rows_sql(run.events, columns, ['business_date', 'load_id'], sql, 'events_of_load')) -%}
    {{ return({'relation': partition, 'summary': spark_cdc._checked_summary(run, partition), 'noted': noted}) }}
{%- endmacro -%}
