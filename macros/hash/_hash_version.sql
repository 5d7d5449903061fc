{#- The version of the encoding that docs/hash.md specifies; it is stored with every load. -#}
{%- macro _hash_version() -%}{{ return('1') }}{%- endmacro -%}
