{#- A var of the project, or its default (of _known_settings) where it is null, not given, or wrong, which _var_problems() says before a load. dbt reads the defaults
    that stand in dbt_project.yml for this project's own models only, not for those of a project that has it as a package. -#}
{%- macro _var(name) -%}
    {%- set given, rule = var(name, none), spark_cdc._known_settings().vars[name] -%}
    {{ return(rule.get('default') if given is none or spark_cdc._refusal(name, given, rule) is not none else given) }}
{%- endmacro -%}
