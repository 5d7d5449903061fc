{#- The node of `stg_<name>` in dbt's graph, where an entity's owner describes it: columns with types and
    roles, and the settings under `meta.spark_cdc`. Unit tests, which have no graph, override this macro with
    the same YAML entry (an anchor). Returns a dictionary, or none if there is no such model. -#}
{%- macro entity_node(name) -%}
    {%- set unique_id = 'model.' ~ model['package_name'] ~ '.stg_' ~ name -%}
    {%- if unique_id in graph.nodes -%}
        {{ return(graph.nodes[unique_id]) }}
    {%- endif -%}
    {%- for node in graph.nodes.values() if node.resource_type == 'model' and node.name == 'stg_' ~ name -%}
        {{ return(node) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}
