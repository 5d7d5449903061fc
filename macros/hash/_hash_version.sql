{#- The version of the encoding that docs/hash.md specifies, with a secret or without; it is stored with every load. -#}
{%- macro _hash_version(secret=none) -%}{{ return('1' if secret is none else '2') }}{%- endmacro -%}
