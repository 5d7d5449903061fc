{#- The model <entity>_quality: what the entity's rules found in each load that counts. -#}
{%- macro quality() -%}
    {{- config(materialized='cdc_view', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set committed = spark_cdc._whole(ref(name ~ '_committed')) -%}
    {%- set load_log = spark_cdc._whole(ref('cdc_loads')) -%}
    {{ return(spark_cdc._quality_sql(name, load_log, committed)) }}
{%- endmacro -%}
