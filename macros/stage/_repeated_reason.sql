{#- The reason of a row whose key comes more than once. -#}
{%- macro _repeated_reason() -%}{{ return('the key comes more than once in the load') }}{%- endmacro -%}
