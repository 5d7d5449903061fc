{#- Those of some columns that are named, in the order of the names. -#}
{%- macro _columns_by_name(columns, names) -%}
    {%- set found = [] -%}
    {%- for name in ([names] if names is string else names or []) -%}
        {%- for column in columns if column.name | lower == name | string | lower -%}
            {%- do found.append(column) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
