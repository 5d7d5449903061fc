{#- Whether the hash of an entity's key is keyed, and so the key one that nobody may read. -#}
{%- macro _has_sensitive_key(entity) -%}{{ return(spark_cdc._secret_of(entity.key_columns) is not none) }}{%- endmacro -%}
