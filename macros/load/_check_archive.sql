{#- The archive has to hold as many events as the load had that is rebuilt: it may have been switched on later. -#}
{%- macro _check_archive(capture, load) -%}
    {%- set records = spark_cdc._load_records(capture.ledger, load.replaced) -%}
    {%- set counted = spark_cdc._query('select count(*) as event_count from ' ~ capture.events ~ ' where ' ~ spark_cdc._in_loads(load.replaced)) -%}
    {%- set held = counted[0].event_count | int -%}
    {%- for load_id in load.replaced if load_id in records and records[load_id].events.event_count != held -%}
        {%- set message -%}
{{ capture.entity.name }}: the archive holds {{ held }} events of {{ load.business_time }}, but the load had {# -#}
{{ records[load_id].events.event_count }} ({{ load_id }}): events.archive was set later, or partitions were dropped. Nothing was written. {# -#}
Replay from the landing (leave --source out), or from a date on whose events are archived.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endfor -%}
{%- endmacro -%}
