{#- The steps of all events that may count: one for each (half 1), and one more for a key that is given up (half 0). A truncate among archived events counts more than
    what else stands at its place (half 2), as in loads. Arguments: how (of _resolve_ctes()). -#}
{%- macro _event_steps_sql(how) -%}
{%- set moves, splits = how.moves, how.moves and how.summary.splits -%}
select
    incoming.key_hash,
    incoming.event_position,
    incoming.event_hash,
    {%- for name in how.carried %}
    incoming.{{ name }},
    {%- endfor %}
    {{ "if(endswith(incoming.event_transaction, '" ~ spark_cdc._truncate_mark() ~ "'), 2, 1)" if how.carried else 1 }} as step__half,
    incoming.event_op = 'delete' as step__is_end,
    {%- if not moves %}
    incoming.event_op in ('insert', 'read') and incoming.event_unavailable is null as step__is_start,
    {%- else %}
    coalesce(
        incoming.event_op in ('insert', 'read') and incoming.event_unavailable is null
        or incoming.old_key_hash is not null and incoming.event_absent is null and incoming.event_unavailable is null,
        false
    ) as step__is_start,
    incoming.old_key_hash is not null
    or incoming.event_op = 'insert' and {# -#}
    {{ '(incoming.event_unavailable is null or split.key_hash is not null)' if splits else 'incoming.event_unavailable is null' }}
        as step__is_push,
    coalesce(incoming.event_transaction, to_json(incoming.event_position)) as step__transaction_id,
    {{ 'coalesce(incoming.old_key_hash, split.key_hash)' if splits else 'incoming.old_key_hash' }} as step__source_key_hash,
    {%- endif %}
    {%- if how.partial %}
    incoming.event_absent,
    incoming.event_unavailable,
    {%- endif %}
    {% for column in how.entity.stored -%}
    incoming.{{ column.sql }}{{ ',
    ' if not loop.last }}
    {%- endfor %}
from {{ how.events }} as incoming
{%- if splits %}
left join (
    select
        event_position,
        event_transaction,
        min(key_hash) as key_hash
    from {{ how.events }}
    where note is null and event_op = 'delete'
    group by event_position, event_transaction
    having count(distinct key_hash) = 1
) as split
    on
        incoming.event_position = split.event_position
        and incoming.event_transaction <=> split.event_transaction
        and incoming.event_op = 'insert'
        and incoming.event_unavailable is not null
        and incoming.key_hash <> split.key_hash
{%- endif %}
where
    {{ spark_cdc._counting_event(how.summary, 'incoming.') | indent(4) }}
{%- if moves %}

union all

select
    old_key_hash as key_hash,
    event_position,
    event_hash,
    {%- for name in how.carried %}
    {{ "'delete' as event_op" if name == 'event_op' else name }},
    {%- endfor %}
    0 as step__half,
    true as step__is_end,
    false as step__is_start,
    false as step__is_push,
    coalesce(event_transaction, to_json(event_position)) as step__transaction_id,
    cast(null as binary) as step__source_key_hash,
    {%- if how.partial %}
    cast(null as array<string>) as event_absent,
    cast(null as array<string>) as event_unavailable,
    {%- endif %}
    {% for column in how.entity.stored -%}
    {{ spark_cdc._quote('old__' ~ column.name) if column.role == 'key' else 'cast(null as ' ~ column.data_type ~ ')' }} as {{ column.sql }}{{ ',
    ' if not loop.last }}
    {%- endfor %}
from {{ how.events }}
where
    {{ spark_cdc._counting_event(how.summary) | indent(4) }}
    and old_key_hash is not null
{%- endif %}
{%- endmacro -%}
