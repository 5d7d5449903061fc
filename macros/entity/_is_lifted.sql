{#- Whether a guard is lifted for this run, for all entities or for this one. -#}
{%- macro _is_lifted(name, guard) -%}
    {%- set lifts = spark_cdc._listed('spark_cdc_lift') -%}
    {{ return(guard in lifts or (name ~ '.' ~ guard) in lifts) }}
{%- endmacro -%}
