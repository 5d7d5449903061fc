{#- What selects the models of an entity, and none of the user's own that read them, in `dbt run --select`: their tag. Messages select in no other way, but by a
    model's name where they mean that model alone. -#}
{%- macro _selector(name) -%}{{ return('tag:' ~ spark_cdc._selector_tag(name)) }}{%- endmacro -%}


{%- macro _selector_tag(name) -%}{{ return('spark_cdc.' ~ name) }}{%- endmacro -%}
