{#- The model <entity>_committed: audits what <entity>_ledger has just written and makes it visible. Its view's text
    is the manifest; altering it is the commit. The model <entity>_committed_sensitive shows the same rows with their sensitive columns. Returns the model's SQL. -#}
{%- macro committed() -%}
    {%- if spark_cdc._is_sensitive_model() -%}{{ return(spark_cdc._committed_sensitive_query()) }}{%- endif -%}
    {{- config(materialized='cdc_committed', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set ledger = spark_cdc._whole(ref(name ~ '_ledger')) -%}
    {%- do ref('spark_cdc', 'cdc_loads') -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {#- what is compiled has no loads: the materialization writes the real text -#}
    {{ return(spark_cdc._committed_sql(spark_cdc._entity(name), ledger, spark_cdc._empty_manifest())) }}
{%- endmacro -%}
