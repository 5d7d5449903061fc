{#- A relation by schema and name. -#}
{%- macro _relation_in(schema, identifier) -%}
    {{ return(api.Relation.create(database=none, schema=schema, identifier=identifier)) }}
{%- endmacro -%}
