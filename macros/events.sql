{#- The model <entity>_events: the change events of this load, typed and judged, in a partition of their own; the archive
    of all loads where the entity has `archive: true`. The ledger reads it, so that the source is parsed once. Returns
    the model's SQL, which begins with the load's name as a comment (see macros/ledger.sql). -#}
{%- macro events() -%}
    {{- config(materialized='cdc_events', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -}}
    {%- set incoming = ref('stg_' ~ spark_cdc._entity_name()) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- neither graph nor server at parse time -#}
    {{ return(spark_cdc._events_query(spark_cdc._planned_run(spark_cdc._capture_of_model()), incoming)) }}
{%- endmacro -%}
