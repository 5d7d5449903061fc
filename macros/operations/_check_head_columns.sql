{#- Refuses to compare loads while the YAML of an entity has other columns than the last commit. Arguments: capture, head (its manifest). -#}
{%- macro _check_head_columns(capture, head) -%}
    {%- if head.definition and not spark_cdc._has_columns_of(capture.entity, head.definition) -%}
        {%- set message -%}
{{ capture.entity.name }}: the columns of stg_{{ capture.entity.name }} are not those of the last load, {{ head.loads[-1] }}. Load once with {# -#}
the new columns, then compare.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
{%- endmacro -%}
