{#- The model <entity>_event_versions: one interval per event, in the source's own order and time. Needs the archive
    (events.archive: true). Returns the model's SQL. -#}
{%- macro event_versions() -%}
    {{- config(materialized='cdc_view') -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set events = ref(name ~ '_events') -%}
    {%- set committed = ref(name ~ '_committed') -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {{ return(spark_cdc.event_versions_sql(spark_cdc.entity(name), events, committed, spark_cdc._archive_layout(committed))) }}
{%- endmacro -%}


{#- Where the archive holds what. -#}
{%- macro _archive_layout(committed) -%}
    {%- if model['resource_type'] == 'unit_test' or not spark_cdc._is_load_command() -%}{{ return({}) }}{%- endif -%}
    {{ return(spark_cdc.read_manifest(committed).get('layout') or {}) }}
{%- endmacro -%}
