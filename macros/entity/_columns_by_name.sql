{#- Those of some columns that are named, in the order of the names. -#}
{%- macro _columns_by_name(columns, names) -%}
    {%- set found = [] -%}
    {%- for name in spark_cdc._names(names) | map('lower') -%}
        {%- for column in columns if column.name | lower == name -%}{%- do found.append(column) -%}{%- endfor -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
