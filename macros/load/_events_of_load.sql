{#- The partition of <entity>_events that this load wrote. -#}
{%- macro _events_of_load(entity, events, load) -%}
    {{ return(spark_cdc._laid_out_events(entity, events, load.layout, "load_id = '" ~ load.load_id ~ "'")) }}
{%- endmacro -%}
