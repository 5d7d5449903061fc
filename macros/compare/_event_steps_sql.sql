{#- The steps of all events that may count: one for each (half 1), and one more for a key that is given up (half 0). A truncate among archived events counts more than
    what else stands at its place (half 2), as in loads. Where keys move, a step says whether its row comes from another key
    (step__arrives), or else is inserted, and then whether the key may hold another row still (step__may_queue).
    Arguments: how (of _resolve_ctes()). -#}
{%- macro _event_steps_sql(how) -%}
{%- set moves = how.moves -%}
{%- set pairs = moves and how.summary.deletes -%}
{%- set place = 'event_position' -%}
{%- if spark_cdc._adapter_format(how.entity.events.format).orders_halves and not how.entity.events.tie_breaker -%}
    {%- set place = 'slice(event_position, 1, size(event_position) - 1)' -%}
{%- endif -%}
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
    coalesce(
        incoming.old_key_hash is not null
        {%- if pairs %}
        or incoming.event_op = 'insert' and (incoming.event_unavailable is null or pair.first_key_hash = pair.last_key_hash)
        and pair.first_key_hash is not null
        {%- endif %}, false
    ) as step__arrives,
    incoming.event_op = 'insert' and incoming.event_unavailable is null and incoming.old_key_hash is null
    {{- ' and pair.first_key_hash is null' if pairs }} as step__is_inserted,
    {{ 'departed.first_key_hash is not null' if pairs else 'false' }} as step__may_queue,
    coalesce(incoming.event_transaction, to_json(incoming.event_position)) as step__transaction_id,
    {%- if pairs %}
    coalesce(incoming.old_key_hash, if(pair.first_key_hash = pair.last_key_hash, pair.first_key_hash, null)) as step__source_key_hash,
    {%- else %}
    incoming.old_key_hash as step__source_key_hash,
    {%- endif %}
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
{%- if pairs %}
-- a delete and an insert of two keys at one place are a row that moves
left join (
    select
        {{ place }} as place,
        event_transaction,
        min(key_hash) as first_key_hash,
        max(key_hash) as last_key_hash
    from {{ how.events }}
    where note is null and event_op = 'delete'
    group by {{ place }}, event_transaction
) as pair
    on
        {{ place | replace('event_position', 'incoming.event_position') }} = pair.place
        and incoming.event_transaction <=> pair.event_transaction
        and incoming.event_op = 'insert'
        and (incoming.key_hash <> pair.first_key_hash or incoming.key_hash <> pair.last_key_hash)
-- so may others of a transaction that deletes a row of another key which it has not inserted
left join (
    select
        event_transaction,
        min(key_hash) as first_key_hash,
        max(key_hash) as last_key_hash
    from (
        select
            key_hash,
            event_transaction
        from {{ how.events }}
        where note is null and event_op in ('insert', 'delete') and event_transaction is not null
        group by key_hash, event_transaction
        having coalesce(
            min(if(event_op = 'delete', event_position, null)) < min(if(event_op = 'insert', event_position, null)),
            max(event_op) = 'delete'
        )
    ) as deletes
    group by event_transaction
) as departed
    on
        incoming.event_transaction = departed.event_transaction
        and incoming.event_op = 'insert'
        and (incoming.key_hash <> departed.first_key_hash or incoming.key_hash <> departed.last_key_hash)
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
    event_absent is null and event_unavailable is null as step__is_start,
    false as step__arrives,
    false as step__is_inserted,
    false as step__may_queue,
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
