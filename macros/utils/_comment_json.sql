{#- A value as JSON that can stand in a SQL comment, whatever texts it holds: comments end, nest and have their ${settings}
    filled in wherever they are. -#}
{%- macro _comment_json(value) -%}
    {{ return(tojson(value, sort_keys=true).replace('*', '\\u002a').replace('$', '\\u0024')) }}
{%- endmacro -%}
