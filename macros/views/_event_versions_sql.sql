{#- The versions of all rows, event by event, as SQL: the archived events of all committed loads, resolved anew as if they
    had come in one batch, so that the loads in which they arrived do not matter. A row's version begins with an event
    and ends with the next one of its key, or with a truncate.
    Arguments: entity, events (relation of <entity>_events), committed (relation or CTE of <entity>_committed), layout (of the manifest). Returns a
    query: the stored columns, key_hash, event_op, event_position, event_end_position (exclusive; null while open),
    event_time, event_end_time, is_current, event_transaction, business_date and load_id (of the load that brought it). -#}
{%- macro _event_versions_sql(entity, events, committed, layout={}) -%}
{%- set summary = dict(spark_cdc._any_events(), late_possible=false, alternates=entity.events.unique_keys | length > 0) -%}
{%- set carried = ['event_op', 'event_time', 'event_transaction', 'business_date', 'load_id'] -%}
with
{{ spark_cdc._archived_ctes(entity, events, committed, layout) }},
{% if summary.alternates %}
{{ spark_cdc._named_ctes({'entity': entity, 'load': {'base': none}}, 'events', carried) }},
{% endif %}
{{ spark_cdc._resolve_ctes(entity, 'named' if summary.alternates else 'events', summary, none, carried=carried) }},

ended as (
    select
        *,
        lead(event_position) over of_key as event_end_position,
        lead(event_time) over of_key as event_end_time
    from resolved
    window of_key as (partition by key_hash order by event_position, step__half, load_id)
)

select
    {% for column in entity.stored -%}
    {{ spark_cdc._aliased(column.sql if column.role == 'key' else spark_cdc._quote('filled__' ~ column.name) ~ '.value', column.sql) }},
    {% endfor -%}
    {{ spark_cdc._hex('key_hash') }} as key_hash,
    event_op,
    event_position,
    event_end_position,
    event_time,
    event_end_time,
    event_end_position is null as is_current,
    event_transaction,
    business_date,
    load_id
from ended
where step__is_alive
{%- endmacro -%}
