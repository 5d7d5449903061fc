{#- The name of a load: business date or time, kind, and eight characters of dbt's invocation id, which make it
    unique to the attempt. The kind is f (full), d (delta), e (events) or s (a full snapshot among events), with a c behind it if the load is a checkpoint; h and hc are what
    compact wrote. Names sort by business time. Example: 20190619-fc-1b2c3d4e. -#}
{%- macro _load_id(entity, time, is_checkpoint) -%}
    {%- set clock = time.strftime('T%H%M%S') -%}
    {%- set stamp = time.strftime('%Y%m%d') ~ ('' if clock == 'T000000' else clock) -%}
    {{ return(stamp ~ '-' ~ ('s' if entity.events and entity.load_type == 'full' else entity.load_type[0]) ~ ('c' if is_checkpoint else '') ~ '-' ~ spark_cdc._attempt()) }}
{%- endmacro -%}
