{#- A model that is a table of what is true now, in a format of its own, for those who can't read the views, or want Delta's or Iceberg's own feed: docs/publish.md.
    Each run writes what has changed since the version that the table has. Arguments: entity (name), format (delta, iceberg, parquet or orc). Returns the
    model's SQL: all rows of the table, behind a comment by which cdc_published knows what to keep up to date. -#}
{%- macro publish(entity, format) -%}
    {{- config(materialized='cdc_published', file_format=format, tags=spark_cdc._selector_tag(entity)) -}}
    {%- set changes = ref(entity ~ '_changes') -%}
    {%- set current = spark_cdc._whole(ref(entity ~ '_current')) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {{ return(spark_cdc._target_query({'entity': entity, 'format': format, 'schema': changes.schema}, current)) }}
{%- endmacro -%}
