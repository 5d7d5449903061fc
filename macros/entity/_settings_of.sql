{#- The project's own part of a node's `meta`, as it was written; an empty dictionary where it is none. -#}
{%- macro _settings_of(node) -%}
    {%- set given = spark_cdc._meta_of(node).get('spark_cdc') -%}
    {{ return(given if given is mapping else {}) }}
{%- endmacro -%}
