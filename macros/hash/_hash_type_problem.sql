{#- Why a column of this type can't be hashed, for the check of the configuration: what was found, what is
    accepted, what to do. Returns a text, or none if it can. -#}
{%- macro _hash_type_problem(data_type) -%}
    {{ return(spark_cdc._hash_type(data_type)['problem']) }}
{%- endmacro -%}
