{#- What a load reads, in words: for messages and for cdc_loads. -#}
{%- macro _landing_input(entity, landing, time) -%}
    {%- if entity.source.format == 'table' -%}
        {{ return('table ' ~ landing ~ ' where ' ~ entity.source.date_column ~ ' is ' ~ spark_cdc._time_text(entity, time)) }}
    {%- elif entity.source.format == 'change_feed' -%}
        {{ return(spark_cdc._change_feed_text(entity)) }}
    {%- endif -%}
    {{ return(entity.source.format ~ ' files of ' ~ spark_cdc._landing_path(entity, time)) }}
{%- endmacro -%}
