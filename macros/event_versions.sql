{#- The model <entity>_event_versions: one interval per event, in the source's own order and time. Needs the archive
    (events.archive: true). Returns the model's SQL. -#}
{%- macro event_versions() -%}
    {{- config(materialized='cdc_view') -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set events = spark_cdc._whole(ref(name ~ '_events')) -%}
    {%- set committed = spark_cdc._whole(ref(name ~ '_committed')) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {%- set manifest = spark_cdc._manifest_of_view(committed) -%}
    {%- set sql = spark_cdc._event_versions_sql(spark_cdc._entity(name), events, committed, manifest.get('layout') or {}) -%}
    {{ return(spark_cdc._typed_view_query(sql, manifest)) }}
{%- endmacro -%}
