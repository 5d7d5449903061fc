{#- The relation of the dbt source that an entity's staging reads. -#}
{%- macro _landing_source(entity) -%}
    {%- for unique_id in spark_cdc.entity_node(entity.name).depends_on.nodes if unique_id in graph.sources -%}
        {%- set node = graph.sources[unique_id] -%}
        {{ return(spark_cdc._relation_in(node.schema, node.identifier)) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}
