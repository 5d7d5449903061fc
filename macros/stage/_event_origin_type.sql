{#- The type of event_origin: where an event is from, as formats say whose messages name it. -#}
{%- macro _event_origin_type() -%}struct<source_table:string,source_log:string>{%- endmacro -%}
