{#- What a secret makes of a fixed text, by which it is known again: null where its table holds none. That Spark can read it shows, too. -#}
{%- macro _secret_proof(secret) -%}
    {{ return(spark_cdc._query('select ' ~ spark_cdc._hex(spark_cdc._hash_digest("'spark_cdc secret'", secret)) ~ ' as proof')[0].proof) }}
{%- endmacro -%}
