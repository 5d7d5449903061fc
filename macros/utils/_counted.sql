{#- A number with its noun: 1 load, 2 loads. -#}
{%- macro _counted(number, noun) -%}
    {{ return(number ~ ' ' ~ noun ~ ('' if number == 1 else 's')) }}
{%- endmacro -%}
