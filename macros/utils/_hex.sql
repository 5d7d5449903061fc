{#- A stored hash as 32 hexadecimal characters. -#}
{%- macro _hex(name) -%}{{ return('lower(hex(' ~ name ~ '))') }}{%- endmacro -%}
