{#- Whether the ledger of an entity is to start anew: asked for in so many words only. -#}
{%- macro _is_wiped(name) -%}
    {{ return(flags.FULL_REFRESH and name in spark_cdc._listed('spark_cdc_wipe')) }}
{%- endmacro -%}
