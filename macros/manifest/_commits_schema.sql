{#- The schema in which the commits of a schema's entities are claimed: one of its own, because dbt's look at the models' schema fails if
    a view goes while it lasts. -#}
{%- macro _commits_schema(schema) -%}{{ return(schema ~ '_commits') }}{%- endmacro -%}
