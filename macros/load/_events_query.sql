{#- What <entity>_events writes: the events of the load, as staged or, in a replay from the archive, as they were archived.
    Arguments: run (of _planned_run()), incoming (staging). Returns SQL that begins with the load's name as a comment. -#}
{%- macro _events_query(run, incoming) -%}
    {%- set load = dict(run.load, **(spark_cdc._check_definition(run, run.load) or {})) -%}
    {%- if (spark_cdc._replay() or {}).get('source') == 'archive' -%}
        {%- set incoming = spark_cdc._replayed_events(run.entity, load, run.events) -%}
    {%- endif -%}
{{ spark_cdc._load_comment({'load_id': load.load_id, 'business_time': load.business_time, 'replaced': load.replaced, 'layout': load.layout}) }}
select
    {% for column in spark_cdc._event_columns(run.entity) -%}
    {{ column.sql }},
    {% endfor -%}
    {{ spark_cdc._partition(load) | indent(4) }}
from {{ incoming }}
{%- endmacro -%}
