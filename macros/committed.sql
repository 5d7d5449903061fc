{#- The model <entity>_committed: audits what <entity>_ledger has just written and makes it visible. Its view's text
    is the manifest; altering it is the commit. Returns the model's SQL. -#}
{%- macro committed() -%}
    {{- config(materialized='cdc_committed') -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set ledger = ref(name ~ '_ledger') -%}
    {%- do ref('spark_cdc', 'cdc_loads') -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {{ return(spark_cdc._committed_sql(spark_cdc._entity(name), ledger, spark_cdc._unit_test_manifest())) }}
{%- endmacro -%}


{#- The manifest that a unit test of <entity>_committed overrides; what is compiled otherwise has no loads, since the
    materialization writes the real text. -#}
{%- macro _unit_test_manifest() -%}
    {{ return(spark_cdc._empty_manifest()) }}
{%- endmacro -%}
