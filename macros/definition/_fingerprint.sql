{#- A definition (of _definition()) in 32 characters. -#}
{%- macro _fingerprint(definition) -%}{{ return(local_md5(tojson(definition, sort_keys=true))) }}{%- endmacro -%}
