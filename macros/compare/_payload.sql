{#- What a row carries whatever becomes of it: the stored columns and the hashes. Returns a list of expressions. -#}
{%- macro _payload(entity) -%}
    {{ return(entity.stored | map(attribute='sql') | list + spark_cdc._payload_hashes(entity)) }}
{%- endmacro -%}


{%- macro _payload_hashes(entity) -%}
    {{ return(['key_hash', 'nonkey_hash'] + (['ignored_hash'] if entity.ignored else [])) }}
{%- endmacro -%}
