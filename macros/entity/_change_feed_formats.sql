{#- The formats of change events whose feed can be read from the table itself: those that say in what it counts. -#}
{%- macro _change_feed_formats() -%}
    {%- set formats = [] -%}
    {%- for format in spark_cdc._event_formats() if spark_cdc._adapter_format(format).feed -%}{%- do formats.append(format) -%}{%- endfor -%}
    {{ return(formats) }}
{%- endmacro -%}
