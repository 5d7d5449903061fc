{#- Whether a business time that is streamed may be loaded: what came into it after a load would never be. Arguments: entity, time. Returns none, or why the load
    is to be refused: {guard, message}. -#}
{%- macro _check_closed(entity, time) -%}
    {%- if entity.source.stream is not mapping -%}{{ return(none) }}{%- endif -%}
    {%- set folder = spark_cdc._landing_path(entity, time).rstrip('/') -%}
    {%- if not spark_cdc._lacks_path(folder ~ spark_cdc._closed_folder() ~ '/*') -%}{{ return(none) }}{%- endif -%}
    {%- set message -%}
{{ entity.name }}: the business time of {{ folder }} is not closed: spark-cdc stream may still add messages to it, which no load would see. Wait until it is {# -#}
closed (spark-cdc stream --status tells what is); spark-cdc run loads it then. Nothing was written.
    {%- endset -%}
    {{ return({'guard': 'open_time', 'message': message}) }}
{%- endmacro -%}
