{#- The model <entity>_versions: each version of each row, with the dates between which it was true. -#}
{%- macro versions() -%}
    {%- set view = spark_cdc._view_of_entity() -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {{ return(spark_cdc._typed_view_query(spark_cdc._versions_sql(spark_cdc._entity(view.name), view.committed), spark_cdc._manifest_of_view(view.plain))) }}
{%- endmacro -%}
