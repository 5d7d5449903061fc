{#- The versions of all rows, event by event, as SQL: the archived events of all committed loads, resolved anew as if they
    had come in one batch, so that the loads in which they arrived do not matter. A row's version begins with an event
    and ends with the next one of its key, or with a truncate.
    Arguments: entity, events (relation of <entity>_events), committed (relation or CTE of <entity>_committed), layout (of the manifest). Returns a
    query: the stored columns, key_hash, event_op, event_position, event_end_position (exclusive; null while open),
    event_time, event_end_time, is_current, event_transaction, business_date and load_id (of the load that brought it). -#}
{%- macro _event_versions_sql(entity, events, committed, layout={}) -%}
{%- set summary = dict(spark_cdc._any_events(), late_possible=false, alternates=entity.events.unique_keys | length > 0) -%}
with
archived as (
    select
        {% for column in spark_cdc._event_columns(entity) -%}
        {{ column.sql }},
        {% endfor -%}
        business_date,
        load_id
    from {{ spark_cdc._from(spark_cdc._archived_events(entity, events, layout)) | indent(4) }}
    where
        note is null
        and event_op <> 'control'
        and load_id in (select explode(coalesce(squashed_load_ids, array(load_id))) from {{ committed }} where operation = 'L')
),

-- a truncate is a delete of every key that was known
known as (
    select
        key_hash,
        {% for column in entity.key_columns -%}
        min({{ column.sql }}) as {{ column.sql }},
        {% endfor -%}
        min(event_position) as first_position
    from archived
    where key_hash is not null
    group by key_hash
),

events as (
    select *
    from archived
    where event_op <> 'truncate'

    union all

    select
        {% for column in spark_cdc._event_columns(entity) -%}
        {{ spark_cdc._truncated_value(entity, column) }} as {{ column.sql }},
        {% endfor -%}
        truncates.business_date,
        truncates.load_id
    from known
    inner join archived as truncates
        on truncates.event_op = 'truncate' and truncates.event_position > known.first_position
),
{% if summary.alternates %}
{{ spark_cdc._named_ctes({'entity': entity, 'load': {'base': none}}, 'events') }},
{% endif %}
{{ spark_cdc._resolve_ctes(entity, 'named' if summary.alternates else 'events', summary, none, all_steps=true) }},

ended as (
    select
        *,
        lead(event_position) over (partition by key_hash order by event_position, load_id) as event_end_position,
        lead(event_time) over (partition by key_hash order by event_position, load_id) as event_end_time
    from resolved
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


{#- A column of the delete that a truncate stands for. -#}
{%- macro _truncated_value(entity, column) -%}
    {%- if column.name == 'event_op' -%}
        {{ return("'delete'") }}
    {%- elif column.name in ['event_position', 'event_transaction', 'event_time', 'event_hash'] -%}
        {{ return('truncates.' ~ column.name) }}
    {%- elif column.name == 'key_hash' or column.name in entity.key_columns | map(attribute='name') -%}
        {{ return('known.' ~ column.sql) }}
    {%- endif -%}
    {{ return('cast(null as ' ~ column.data_type ~ ')') }}
{%- endmacro -%}
