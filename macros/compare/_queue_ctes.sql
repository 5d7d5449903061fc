{#- Where keys move, a transaction may take a key before its former row has left it (a swap,
    `id = id + 1`). Rows then queue under the key: who leaves first is the row that was there first. How many there are is
    a sum that is kept from falling below a floor (0, or 1 where a row was written), which is the sum plus a running
    maximum: q(t) = s(t) + max(q(0), max over i <= t of (floor(i) - s(i))), as for a reflected random walk.
    A transaction is what follows each other under a key, since its number may come again. What is sent again adds no row: an arrival of a whole
    row, equal to the one before it, or of any from where no row is left (nothing came there in this load); an insert behind another one, or of a row that
    nothing shows to come from another key. Nor does it take one: a key change of a whole row right behind itself.
    Arguments: how (of _resolve_ctes()). -#}
{%- macro _queue_ctes(how) -%}
{%- set so_far = 'order by event_position, step__half rows between unbounded preceding and current row' -%}
{%- set so_far_before = 'order by event_position, step__half rows between unbounded preceding and 1 preceding' -%}
{%- set last = 'filled' if how.partial else 'freed' -%}
{%- set root -%}
{{ 'if(step__row_segment is null, step__row_key_hash, null)' if how.partial else 'key_hash' }} as step__root_key_hash
{%- endset -%}
{%- set before_key = 'partition by key_hash ' ~ so_far_before -%}
{%- set tells_again = how.summary.get('key_changes', true) -%}
told as (
    select
        *,
        {%- if tells_again %}
        step__half = 0 and ({{ 'step__was_dead or ' if how.has_prior }}lag(step__half) over of_key is not null)
        and not coalesce(bool_or(not step__is_end) over ({{ before_key }}), false) as step__leaves_nothing,
        {%- endif %}
        coalesce(step__transaction_id <> lag(step__transaction_id) over of_key, false) as step__begins_transaction,
        coalesce(
            step__half = 0 and step__is_start and lag(step__half) over of_key = 0 and lag(event_hash) over of_key = event_hash
            and lag(step__transaction_id) over of_key = step__transaction_id, false
        ) as step__leaves_again,
        last_value(
            if(
                step__is_end or step__arrives or step__is_inserted,
                struct(step__transaction_id as transaction_id, step__is_inserted as is_inserted, step__source_key_hash as source_key_hash, event_hash),
                null
            ), true
        ) over ({{ before_key }}) as step__before
    from ordered
    where not step__is_repeated
    window of_key as (partition by key_hash order by event_position, step__half)
),

pushing as (
    select
        *,
        step__arrives and not coalesce(
            step__is_start and step__before.source_key_hash = step__source_key_hash and step__before.event_hash = event_hash
            and step__before.transaction_id = step__transaction_id, false
        )
        {%- if tells_again %}
        and not coalesce(max(step__leaves_nothing) over (partition by event_position, event_hash), false)
        {%- endif %}
        or step__is_inserted and step__may_queue and not coalesce(
            step__before.is_inserted and step__before.transaction_id = step__transaction_id, false
        ){{ ' and not step__is_known' if how.has_prior }} as step__is_push,
        step__is_end and not step__leaves_again as step__is_pull,
        count_if(step__begins_transaction) over (partition by key_hash {{ so_far }}) as step__transaction
    from told
),

-- how many rows a transaction has brought to a key, less those that it took away
grouped as (
    select
        *,
        cast(step__is_push as int) - cast(step__is_pull as int) as step__change,
        sum(cast(step__is_push as int) - cast(step__is_pull as int)) over in_transaction as step__net,
        lead(event_position) over (
            partition by key_hash, step__transaction order by event_position, step__half
        ) is null as step__ends_transaction
    from pushing
    window in_transaction as (partition by key_hash, step__transaction {{ so_far }})
),

-- a queue is never shorter than empty, and never empty after a row was written: what that adds to step__net
bounded as (
    select
        *,
        max(if(step__is_end, 0, 1) - step__net) over (
            partition by key_hash, step__transaction {{ so_far }}
        ) as step__raise,
        max(if(step__is_end, 0, 1) - step__net) over (
            partition by key_hash, step__transaction {{ so_far_before }}
        ) as step__raise_before
    from grouped
),

-- whether the key is there before a transaction: as after the one before it, where that is known
occupied as (
    select
        *,
        cast(coalesce(
            last_value(
                case
                    when not step__ends_transaction then null
                    when step__net + step__raise > 0 then true
                    when step__net < 0 then false
                end, true
            ) over ({{ before_key }}), step__existed
        ) as int) as step__at_first
    from bounded
),

{% set rows_before = '(step__net - step__change + greatest(step__at_first, step__raise_before))' -%}
freed as (
    select
        *,
        step__is_end and step__net + greatest(step__at_first, step__raise) = 0 as step__is_gone
        {%- if how.partial %},
        step__is_push or not step__is_end and {{ rows_before }} = 0 as step__is_new,
        step__is_pull and {{ rows_before }} > 0 as step__is_taken
        {%- endif %}
    from occupied
),

{% if how.partial -%}
{{ spark_cdc._follow_ctes(how) }}

{% endif -%}
{% if how.carried -%}
resolved as (
    select
        key_hash,
        event_position,
        not step__is_gone as step__is_alive,
        step__is_conflict,
        step__half,
        {{ (how.value_names + [root]) | join(',\n        ') }}
    from {{ last }}
    where step__is_gone or not step__is_end
)
{%- else -%}
ranked as (
    select
        *,
        first_value(event_position) over newest_first as step__last_position,
        not first_value(step__is_gone) over newest_first as step__remains
    from {{ last }}
    window newest_first as (partition by key_hash order by event_position desc, step__half desc rows between unbounded preceding and current row)
),

resolved as (
    select
        key_hash,
        step__last_position as event_position,
        step__remains as step__is_alive,
        step__is_conflict,
        {{ (how.value_names + [root]) | join(',\n        ') }}
    from (
        select
            *,
            row_number() over (
                partition by key_hash order by step__is_conflict desc, step__is_end and step__remains, event_position desc, step__half desc
            ) as recency
        from ranked
    ) as newest
    where recency = 1 or step__is_conflict
)
{%- endif %}
{%- endmacro -%}
