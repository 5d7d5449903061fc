{#- Whether events of a format are JSON documents, not rows with columns of their own. -#}
{%- macro _is_message_format(format) -%}
    {{ return(spark_cdc._adapter(format, '_columns') is none) }}
{%- endmacro -%}
