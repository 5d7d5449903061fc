{#- The model <entity>_current: what is true now, one row per key and never a deleted one. -#}
{%- macro current() -%}
    {{- config(materialized='cdc_view') -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set committed = spark_cdc._whole(ref(name ~ '_committed')) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {%- set entity = spark_cdc._entity(name) -%}
    {%- set manifest = spark_cdc._manifest_of_view(committed) -%}
    {{ return(spark_cdc._typed_view_query(spark_cdc._current_sql(entity, committed, spark_cdc._is_few(entity, manifest.log_rows)), manifest)) }}
{%- endmacro -%}
