{#- Whether an entity has the columns, types and roles now that a fingerprint (of _fingerprint()) stands for, whatever the secret. -#}
{%- macro _has_columns_of(entity, fingerprint) -%}
    {{ return((fingerprint or '')[:32] == spark_cdc._fingerprint(spark_cdc._definition(entity))[:32]) }}
{%- endmacro -%}
