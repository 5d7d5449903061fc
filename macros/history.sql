{#- The model <entity>_history: what changed on each business date (I, U and D). -#}
{%- macro history() -%}
    {{- config(materialized='cdc_view') -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set committed = spark_cdc._whole(ref(name ~ '_committed')) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {{ return(spark_cdc._typed_view_query(spark_cdc._history_sql(spark_cdc._entity(name), committed), spark_cdc._manifest_of_view(committed))) }}
{%- endmacro -%}
