{#- The model <entity>_rejects: rows that loads set aside since they could not be accepted. -#}
{%- macro rejects() -%}
    {{- config(materialized='cdc_view') -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set ledger = spark_cdc._whole(ref(name ~ '_ledger')) -%}
    {%- set committed = spark_cdc._whole(ref(name ~ '_committed')) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {%- set manifest = spark_cdc._manifest_of_view(committed) -%}
    {%- set sql = spark_cdc._rejects_sql(spark_cdc._entity(name), ledger, committed, manifest.get('layout') or {}) -%}
    {{ return(spark_cdc._typed_view_query(sql, manifest)) }}
{%- endmacro -%}
