{#- Why a manifest can't be the head: <entity>_committed would show its rows under the columns that the YAML declares now. A text, or none. -#}
{%- macro _other_columns_problem(entity, manifest) -%}
    {%- if spark_cdc._has_columns_of(entity, manifest.definition) -%}{{ return(none) }}{%- endif -%}
    {%- set problem -%}
{{ entity.name }}: after {{ manifest.loads[-1] }} the columns were other ones than stg_{{ entity.name }} has now. Give the YAML the columns, types and roles {# -#}
back that it had then, and run the same command again.
    {%- endset -%}
    {{ return(problem) }}
{%- endmacro -%}
