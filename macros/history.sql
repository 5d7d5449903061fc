{#- The model <entity>_history: what changed on each business date (I, U and D). -#}
{%- macro history() -%}
    {%- set view = spark_cdc._view_of_entity() -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {{ return(spark_cdc._typed_view_query(spark_cdc._history_sql(spark_cdc._entity(view.name), view.committed), spark_cdc._manifest_of_view(view.plain))) }}
{%- endmacro -%}
