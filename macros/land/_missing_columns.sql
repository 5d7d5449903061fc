{#- The declared columns that are not among those found, whatever their case. -#}
{%- macro _missing_columns(entity, found) -%}
    {%- set names = found | map(attribute='col_name') | map('lower') | list -%}
    {%- set missing = [] -%}
    {%- for column in entity.columns if column.from | lower not in names -%}{%- do missing.append(column) -%}{%- endfor -%}
    {{ return(missing) }}
{%- endmacro -%}
