{#- The model stg_<entity>: what came in for the business date, renamed and cast to the declared types, with both
    hashes, and with a note on each row that can't be accepted. It is ephemeral: the ledger reads it as a common
    table expression, so that what is loaded can't depend on what another run did to a view meanwhile.
    `dbt show --select stg_<entity> --vars '{business_date: ...}'` looks at it.
    Arguments: the dbt source and table where lineage starts. Returns the model's SQL. -#}
{%- macro stage(source_name='landing', table_name=none) -%}
    {{- config(materialized='ephemeral', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set landing = source(source_name, table_name or name) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph, and so the configuration, is not there yet -#}
    {%- set entity = spark_cdc._entity(name) -%}
    {%- set stage_sql = spark_cdc._stage_events_sql if entity.events else spark_cdc._stage_sql -%}
    {%- if spark_cdc._is_archive_replay() -%}  {#- nothing has landed in this session -#}
        {{ return('select 1 as not_read') }}
    {%- endif -%}
    {%- if flags.WHICH == 'show' -%}
        {%- if entity.source.format == 'change_feed' -%}
            {%- set entity = spark_cdc._run_with_change_feed(spark_cdc._planned_run_to_look_at(spark_cdc._capture_of_model())).entity -%}
        {%- endif -%}
        {%- do spark_cdc._land_load(entity, landing, spark_cdc._business_time_of(name)) -%}
    {%- endif -%}
    {%- set sql = stage_sql(entity, spark_cdc._landed_view(entity)) -%}
    {{ return(spark_cdc._masked_stage_sql(entity, sql) if flags.WHICH == 'show' and entity.sensitive else sql) }}
{%- endmacro -%}
