{#- The model <entity>_current: what is true now, one row per key and never a deleted one. -#}
{%- macro current() -%}
    {%- set view = spark_cdc._view_of_entity() -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {%- set entity = spark_cdc._entity(view.name) -%}
    {%- set manifest = spark_cdc._manifest_of_view(view.plain) -%}
    {{ return(spark_cdc._typed_view_query(spark_cdc._current_sql(entity, view.committed, spark_cdc._is_few(entity, manifest.log_rows)), manifest)) }}
{%- endmacro -%}
