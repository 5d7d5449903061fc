{#- Whether equal values of two types have one hash: see docs/hash.md. -#}
{%- macro _is_hashed_alike(one, other) -%}
    {%- set groups = {'decimal': 'integer', 'double': 'float'} -%}
    {%- set kinds = [spark_cdc._hash_type(one).kind, spark_cdc._hash_type(other).kind] -%}
    {{ return(groups.get(kinds[0], kinds[0]) == groups.get(kinds[1], kinds[1])) }}
{%- endmacro -%}
