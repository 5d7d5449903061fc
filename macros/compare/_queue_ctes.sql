{#- Where keys move, a transaction may take a key before its former row has left it (a swap,
    `id = id + 1`). Rows then queue under the key: who leaves first is the row that was there first. How many there are is
    a sum that is kept from falling below a floor (0, or 1 where a row was written), which is the sum plus a running
    maximum: q(t) = s(t) + max(q(0), max over i <= t of (floor(i) - s(i))), as for a reflected random walk.
    Arguments: how (of _resolve_ctes()). -#}
{%- macro _queue_ctes(how) -%}
{%- set transaction = spark_cdc._transaction_of(how) -%}
{%- set so_far = 'order by event_position, step__half rows between unbounded preceding and current row' -%}
{%- set so_far_before = 'order by event_position, step__half rows between unbounded preceding and 1 preceding' -%}
-- how many rows a transaction has brought to a key, less those that it took away
grouped as (
    select
        *,
        cast(step__is_push as int) - cast(step__is_end as int) as step__change,
        sum(cast(step__is_push as int) - cast(step__is_end as int)) over in_transaction as step__net,
        lead(event_position) over (
            partition by key_hash, {{ transaction }} order by event_position, step__half
        ) is null as step__ends_transaction
    from ordered
    where not step__is_repeated
    window in_transaction as (partition by key_hash, {{ transaction }} {{ so_far }})
),

-- a queue is never shorter than empty, and never empty after a row was written: what that adds to step__net
bounded as (
    select
        *,
        max(if(step__is_end, 0, 1) - step__net) over (
            partition by key_hash, {{ transaction }} {{ so_far }}
        ) as step__raise,
        max(if(step__is_end, 0, 1) - step__net) over (
            partition by key_hash, {{ transaction }} {{ so_far_before }}
        ) as step__raise_before
    from grouped
),

-- whether the key is there after a transaction; null: as before it
settled as (
    select
        *,
        case
            when not step__ends_transaction then null
            when step__net + step__raise > 0 then true
            when step__net < 0 then false
        end as step__outcome
    from bounded
),

occupied as (
    select
        *,
        cast(coalesce(
            last_value(step__outcome, true) over (
                partition by key_hash {{ so_far_before }}
            ), step__existed
        ) as int) as step__at_first
    from settled
),

queued as (
    select
        *,
        step__net + greatest(step__at_first, step__raise) as step__rows,
        step__net - step__change + greatest(step__at_first, step__raise_before) as step__rows_before
    from occupied
),

freed as (
    select
        *,
        step__is_end and step__rows = 0 as step__is_gone
        {%- if how.partial %},
        step__is_push or not step__is_end and step__rows_before = 0 as step__is_new,
        step__is_end and step__rows_before > 0 as step__is_taken
        {%- endif %}
    from queued
),

{% if how.partial -%}
{{ spark_cdc._follow_ctes(how) }}

{% endif -%}
ranked as (
    select
        *,
        first_value(event_position) over newest_first as step__last_position,
        not first_value(step__is_gone) over newest_first as step__remains
    from {{ 'filled' if how.partial else 'freed' }}
    window newest_first as (partition by key_hash order by event_position desc, step__half desc rows between unbounded preceding and current row)
),

resolved as (
    select
        key_hash,
        {{ 'event_position' if how.carried else 'step__last_position as event_position' }},
        {{ 'not step__is_gone' if how.carried else 'step__remains' }} as step__is_alive,
        step__is_conflict,
        {%- if how.carried %}
        step__half,
        {%- endif %}
        {{ how.value_names | join(',\n        ') }},
        {{ 'if(step__row_segment is null, step__row_key_hash, null)' if how.partial else 'key_hash' }} as step__root_key_hash
    from (
        select
            *,
            row_number() over (
                partition by key_hash order by step__is_conflict desc, step__is_end and step__remains, event_position desc, step__half desc
            ) as recency
        from ranked
    ) as newest
    where {{ 'step__is_gone or not step__is_end' if how.carried else 'recency = 1 or step__is_conflict' }}
)
{%- endmacro -%}
