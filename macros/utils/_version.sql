{#- The version of this package, as dbt_project.yml and pyproject.toml have it. -#}
{%- macro _version() -%}{{ return('0.1.0') }}{%- endmacro -%}
