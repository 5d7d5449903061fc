{#- What a var of one name or of a list of names holds, as a list: entities (spark_cdc_wipe, spark_cdc_rekey) or guards
    (spark_cdc_lift). -#}
{%- macro _listed(var_name) -%}
    {{ return(spark_cdc._names(var(var_name, none) or none)) }}
{%- endmacro -%}
