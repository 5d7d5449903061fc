{#- A text as a SQL literal. Quotes and backslashes are escaped, so that no content of a file name, an option or
    a message can end it, and dollars, since Spark puts a setting's value in the place of ${name} even within literals. Returns text. -#}
{%- macro _literal(text) -%}
    {{ return("'" ~ (text | string).replace('\\', '\\\\').replace("'", "\\'").replace('$', '\\u0024') ~ "'") }}
{%- endmacro -%}
