{#- What <entity>_events writes: the events of the load, as staged or, in a replay from the archive, as they were archived.
    Arguments: run (of _planned_run()), incoming (staging). Returns SQL that begins with the load's name as a comment. -#}
{%- macro _events_query(run, incoming) -%}
    {%- if spark_cdc._is_load_command() or spark_cdc._is_plan() -%}{%- do spark_cdc._check_secret(run) -%}{%- endif -%}
    {%- set load = dict(run.load, **(spark_cdc._check_definition(run, run.load) or {})) -%}
    {%- if spark_cdc._is_archive_replay() -%}
        {%- if not load.replaced -%}
            {%- set message -%}
{{ run.entity.name }}: {{ load.business_time }} was never loaded, so its events are not in the archive. Nothing was written. Replay it from the {# -#}
landing: leave spark_cdc_replay.source (--source) out.
            {%- endset -%}
            {%- do exceptions.raise_compiler_error(message) -%}
        {%- endif -%}
        {%- set archived = spark_cdc._archived_events(run.entity, run.events, load.layout) -%}
        {%- set incoming = '(select * from ' ~ archived ~ ' as events where ' ~ spark_cdc._in_loads(load.replaced) ~ ') as archived' -%}
    {%- endif -%}
{{ spark_cdc._load_comment({
    'load_id': load.load_id, 'business_time': load.business_time, 'replaced': load.replaced, 'layout': load.layout, 'prior_rows': load.prior_rows
}) }}
{{ spark_cdc._event_rows_sql(run.entity, load, incoming) }}
{%- endmacro -%}
