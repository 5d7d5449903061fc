{#- A text as a SQL literal. Quotes and backslashes are escaped, so that no content of a file name, an option or
    a message can end it. Returns text. -#}
{%- macro _literal(text) -%}
    {{ return("'" ~ (text | string).replace('\\', '\\\\').replace("'", "\\'") ~ "'") }}
{%- endmacro -%}
