{#- Whether a table or view exists, asked of the metastore. -#}
{%- macro _is_there(relation) -%}
    {%- set found = spark_cdc._query('show tables in ' ~ relation.without_identifier() ~ ' like ' ~ spark_cdc._literal(relation.identifier)) -%}
    {{ return(found | length > 0) }}
{%- endmacro -%}
