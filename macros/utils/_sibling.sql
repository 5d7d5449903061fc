{#- A relation in the schema of the model at hand. -#}
{%- macro _sibling(identifier) -%}{{ return(spark_cdc._relation_in(model['schema'], identifier)) }}{%- endmacro -%}
