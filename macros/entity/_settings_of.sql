{#- The project's own part of a node's `meta`, as it was written. -#}
{%- macro _settings_of(node) -%}
    {{ return(spark_cdc._meta_of(node).get('spark_cdc') or {}) }}
{%- endmacro -%}
