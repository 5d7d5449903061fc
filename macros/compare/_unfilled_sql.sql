{#- How many keys have a column whose value was not sent, and is not known either: no row of the key was there before, and none came earlier in the load. Null is
    stored then. What is the second half of a key change has the values of the old key. Arguments: run, events, summary (of _event_summary()). -#}
{%- macro _unfilled_sql(run, events, summary) -%}
{%- set lacks = ['event_unavailable is not null'] + (['old_key_hash is null'] if run.entity.key_columns else []) -%}
{%- if summary.splits -%}
    {%- do lacks.append("not (event_op = 'insert' and bool_or(event_op = 'delete') over (partition by event_position, event_transaction))") -%}
{%- endif -%}
select count(distinct incoming.key_hash) as unfilled
from (
    select
        key_hash,
        event_op,
        event_position,
        {{ lacks | join(' and ') }} as step__lacks,
        lag(event_op) over (partition by key_hash order by event_position) as step__former_op
    from {{ events }}
    where
        {{ spark_cdc._counting_event(summary) | indent(8) }}
) as incoming
{%- if run.load.base is not none %}
left join (
    {{ spark_cdc._rows_before_sql(
        run, 'select key_hash from ' ~ events, summary.event_count, ['key_hash', 'event_position', 'operation']
    ) | indent(4) }}
) as prior
    on incoming.key_hash = prior.key_hash
{%- endif %}
where
    incoming.step__lacks
    and incoming.event_op <> 'delete'
    and coalesce(incoming.step__former_op = 'delete', true)
    {%- if run.load.base is not none %}
    and coalesce(incoming.event_position > prior.event_position, true)
    and (incoming.step__former_op = 'delete' or not coalesce({{ spark_cdc._is_alive('prior', summary.truncated) }}, false))
    {%- endif %}
{%- endmacro -%}
