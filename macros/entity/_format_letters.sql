{#- A pattern of times without the parts between quotes, which stand for themselves. -#}
{%- macro _format_letters(format) -%}
    {{ return(modules.re.sub("'[^']*'", '', format)) }}
{%- endmacro -%}
