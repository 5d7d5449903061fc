{#- One name or a list of names, as a list of texts. -#}
{%- macro _names(given) -%}
    {%- if given is none -%}
        {{ return([]) }}
    {%- endif -%}
    {%- set is_list = given is iterable and given is not string and given is not mapping -%}
    {{ return((given if is_list else [given]) | map('string') | list) }}
{%- endmacro -%}
