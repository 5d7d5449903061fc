{#- One name or a list of names, as a list of texts. -#}
{%- macro _names(given) -%}
    {%- set is_one = given is string or given is mapping or given is not iterable -%}
    {{ return([] if given is none else ([given] if is_one else given) | map('string') | list) }}
{%- endmacro -%}
