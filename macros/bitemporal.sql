{#- The model <entity>_bitemporal: what was believed of each row, by two times: when it was so at the source (valid), and which loads knew it (known).
    Needs the archive (events.archive: true). Returns the model's SQL. -#}
{%- macro bitemporal() -%}
    {{- config(materialized='cdc_view') -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set events = spark_cdc._whole(ref(name ~ '_events')) -%}
    {%- set committed = spark_cdc._whole(ref(name ~ '_committed')) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {%- set manifest = spark_cdc._manifest_of_view(committed) -%}
    {%- set sql = spark_cdc._bitemporal_sql(spark_cdc._entity(name), events, committed, manifest.get('layout') or {}) -%}
    {{ return(spark_cdc._typed_view_query(sql, manifest)) }}
{%- endmacro -%}
