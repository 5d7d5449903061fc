{#- Whether the ledger of an entity is to start anew: asked for in so many words only. -#}
{%- macro _is_wiped(name) -%}
    {%- set wipe = var('spark_cdc_wipe', []) or [] -%}
    {{ return(flags.FULL_REFRESH and name in ([wipe] if wipe is string else wipe)) }}
{%- endmacro -%}
