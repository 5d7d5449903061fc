{#- A relation by schema and name. -#}
{%- macro _relation_in(schema, identifier) -%}
    {{ return(api.Relation.create(database=none, schema=schema, identifier=identifier)) }}
{%- endmacro -%}


{#- A relation in the schema of the model at hand. -#}
{%- macro _sibling(identifier) -%}{{ return(spark_cdc._relation_in(model['schema'], identifier)) }}{%- endmacro -%}
