{#- Keys, but for sensitive ones, and, where it is known, how often they came, a line each. -#}
{%- macro _key_lines(entity, examples) -%}
    {%- set lines = [] -%}
    {%- for example in examples -%}
        {%- set values = [] -%}
        {%- for column in entity.key_columns -%}{%- do values.append(column.name ~ (' (sensitive)' if column.sensitive else ' = ' ~ example[column.name])) -%}{%- endfor -%}
        {%- do lines.append(values | join(', ') ~ (' (' ~ example.row_count ~ ' rows)' if 'row_count' in example else '')) -%}
    {%- endfor -%}
    {{ return(lines) }}
{%- endmacro -%}
