{#- Whether the rows written since the checkpoint are few enough for their keys to be broadcast. -#}
{%- macro _is_log_small(entity, manifest) -%}
    {{ return(spark_cdc._is_few(entity, manifest.log_rows)) }}
{%- endmacro -%}


{#- Whether the keys of so many rows, or events, are few enough to be broadcast. -#}
{%- macro _is_few(entity, rows) -%}
    {{ return((rows or 0) <= entity.checkpoint.rows) }}
{%- endmacro -%}
