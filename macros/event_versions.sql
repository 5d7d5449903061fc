{#- The model <entity>_event_versions: one interval per event, in the source's own order and time. Needs the archive
    (events.archive: true). Returns the model's SQL. -#}
{%- macro event_versions() -%}
    {{ return(spark_cdc._view_query_of_two('events', spark_cdc._event_versions_sql)) }}
{%- endmacro -%}
