{#- A var of the project, or its default (of _known_settings) where it is null or not given. dbt reads the defaults that stand in
    dbt_project.yml for this project's own models only, not for those of a project that has it as a package. -#}
{%- macro _var(name) -%}
    {%- set given = var(name, none) -%}
    {{ return(spark_cdc._known_settings().vars[name].get('default') if given is none else given) }}
{%- endmacro -%}
