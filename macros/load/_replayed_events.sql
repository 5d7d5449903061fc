{#- The archived events of the load that is rebuilt, as a query in parentheses, for a replay from the archive. -#}
{%- macro _replayed_events(entity, load, events) -%}
    {%- if not load.replaced -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': ' ~ load.business_time ~ ' was never loaded, so its events are not in the archive. Nothing was written. Replay it from the '
            ~ 'landing: leave spark_cdc_replay.source (--source) out.'
        ) %}
    {%- endif -%}
    {{ return('(select * from ' ~ spark_cdc._archived_events(entity, events, load.layout) ~ ' as events where ' ~ spark_cdc._in_loads(load.replaced) ~ ') as archived') }}
{%- endmacro -%}


{#- The archive has to hold as many events as the load had: it may have been switched on later. -#}
{%- macro _check_archive(entity, events, load) -%}
    {%- set ledger = spark_cdc._relation_in(events.schema, entity.name ~ '_ledger') -%}
    {%- set records = spark_cdc._load_records(ledger, load.replaced) -%}
    {%- set held = spark_cdc._query('select count(*) as event_count from ' ~ events ~ ' where ' ~ spark_cdc._in_loads(load.replaced))[0].event_count | int -%}
    {%- for load_id in load.replaced if load_id in records and records[load_id].events.event_count != held -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': the archive holds ' ~ held ~ ' events of ' ~ load.business_time ~ ', but the load had ' ~ records[load_id].events.event_count
            ~ ' (' ~ load_id ~ '): events.archive was set later, or partitions were dropped. Nothing was written. Replay from the landing (leave '
            ~ '--source out), or from a date on whose events are archived.'
        ) %}
    {%- endfor -%}
{%- endmacro -%}
