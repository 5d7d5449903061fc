{#- The declared columns that are not among those found, whatever their case. In YAML, dbt makes a line feed of each line break. -#}
{%- macro _missing_columns(entity, found) -%}
    {%- set names = found | map(attribute='col_name') | map('replace', '\r\n', '\n') | map('lower') | list -%}
    {%- set missing = [] -%}
    {%- for column in entity.columns if column.from | lower not in names -%}{%- do missing.append(column) -%}{%- endfor -%}
    {{ return(missing) }}
{%- endmacro -%}
