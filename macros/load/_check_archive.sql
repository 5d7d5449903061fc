{#- The archive has to hold as many events as the load had that is rebuilt: it may have been switched on later. It names them by the hashes of their keys, which
    have to be keyed with the secret of today, if any. -#}
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
    {%- set now = spark_cdc._hash_specification_of_key(spark_cdc._hash_specification(capture.entity)) -%}
    {%- for load_id, record in records.items() -%}
        {%- set then = spark_cdc._hash_specification_of_key(record.definition['hash specification']) -%}
        {%- if then != now and 'secret' in then ~ now -%}
            {%- set message -%}
{{ capture.entity.name }}: the archived events of {{ load.business_time }} name their rows by hashes of sensitive keys that were made otherwise ({{ then }}, {# -#}
now {{ now }}; {{ load_id }}). Nothing was written. Replay from the landing: leave --source out.
            {%- endset -%}
            {%- do exceptions.raise_compiler_error(message) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}
