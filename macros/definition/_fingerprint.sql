{#- A definition in 32 characters. -#}
{%- macro _fingerprint(entity) -%}
    {{ return(local_md5(tojson(spark_cdc._definition(entity), sort_keys=true))) }}
{%- endmacro -%}
