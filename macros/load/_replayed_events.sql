{#- The archived events of the load that is rebuilt, as a query in parentheses, for a replay from the archive. -#}
{%- macro _replayed_events(entity, load, events) -%}
    {%- if not load.replaced -%}
        {%- set message -%}
{{ entity.name }}: {{ load.business_time }} was never loaded, so its events are not in the archive. Nothing was written. Replay it from the {# -#}
landing: leave spark_cdc_replay.source (--source) out.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    (select * from {{ spark_cdc._archived_events(entity, events, load.layout) }} as events where {{ spark_cdc._in_loads(load.replaced) }}) as archived
{%- endmacro -%}
