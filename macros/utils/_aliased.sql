{#- An expression under a name, which is left out where it would say the same again. Returns text. -#}
{%- macro _aliased(sql, name) -%}
    {{ return(sql if sql == name else sql ~ ' as ' ~ name) }}
{%- endmacro -%}
