{#- Resolving as common table expressions: what the events of a load do to each key, ranked by the declared order in
    one pass. The last of them is `resolved`: one row per key that something was applied to.

    Columns of its own begin with step__, so that they never meet a column of the entity.
    An event is one step of its key, or two where the key changes: the old key is given up (half 0), the new one taken
    (half 1). The last step of a key tells whether it is there; values that a row lacks come from the row's earlier
    steps since it began, else from its prior state.

    Where keys move (summary.moves), a transaction may take a key before its former row has left it (a swap,
    `id = id + 1`). Rows then queue under the key: who leaves first is the row that was there first. How many there are is
    a sum that is kept from falling below a floor (0, or 1 where a row was written), which is the sum plus a running
    maximum: q(t) = s(t) + max(q(0), max over i <= t of (floor(i) - s(i))), as for a reflected random walk. Where such rows also lack columns, each is followed through its keys: a chain of moves
    is cut short by pointer jumping over one narrow array of all moves, in a fixed number of rounds.

    Arguments: entity, events (relation, or name of a CTE, with the columns of _event_columns()), summary (of _event_summary()), prior
    (name of a CTE with key_hash, event_position and operation of the keys' last rows, or none), all_steps (whether
    every step is wanted, not the last of each key). Columns of `resolved`: key_hash, event_position (last applied),
    step__is_alive, step__is_conflict, the key columns, those of _missing_of() as `filled__<name>` (null or a struct with the value) where
    partial, the others under their names; step__root_key_hash (whose prior row fills what is still missing, or null) where partial. -#}
{%- macro _resolve_ctes(entity, events, summary, prior=none, all_steps=false) -%}
{%- set moves = spark_cdc._keys_move(entity, summary) -%}
{%- set partial = summary.partial -%}
{%- set others = entity.stored | rejectattr('role', 'equalto', 'key') | list -%}
{%- set by_position = 'partition by key_hash order by event_position, step__half, event_hash' ~ (', load_id' if all_steps else '') -%}
{%- set key_names = entity.key_columns | map(attribute='sql') | list -%}
{%- set other_names = others | map(attribute='sql') | list -%}
{%- set missing = spark_cdc._missing_of(entity, summary) if partial else [] -%}
{%- set left_out = missing | map(attribute='sql') | list -%}
{%- set value_names = (['event_op', 'event_time', 'event_transaction', 'business_date', 'load_id'] if all_steps else []) + key_names + spark_cdc._filled_names(missing) + other_names | reject('in', left_out) | list -%}
{%- set is_plain = not (moves or partial or all_steps or summary.get('conflicts', true)) -%}
steps as (
    {{ spark_cdc._event_steps_sql(entity, events, summary, moves, partial, all_steps) | indent(4) }}
),
{% if prior and (summary.late_possible or moves) %}
-- what is not newer than what was last applied to its key changes nothing
newer as (
    select
        steps.*,
        coalesce({{ spark_cdc._is_alive('prior', summary.truncated) }}, false) as step__existed
    from steps
    left join {{ prior }} as prior
        on steps.key_hash = prior.key_hash
    where prior.event_position is null or steps.event_position > prior.event_position
),
{% else %}
newer as (
    select
        *,
        false as step__existed
    from steps
),
{% endif %}
{% if is_plain %}
resolved as (
    select
        key_hash,
        event_position,
        not step__is_end as step__is_alive,
        false as step__is_conflict,
        {{ (value_names + ['key_hash as step__root_key_hash']) | join(',\n        ') }}
    from (
        select
            *,
            row_number() over (partition by key_hash order by event_position desc) as recency
        from newer
    ) as newest
    where recency = 1
)
{%- else %}
ordered as (
    select
        *,
        lead(event_position) over ({{ by_position }}) is null as step__is_last,
        coalesce(
            lag(event_position) over ({{ by_position }}) = event_position and lag(step__half) over ({{ by_position }}) = step__half
            and lag(event_hash) over ({{ by_position }}) = event_hash, false
        ) as step__is_repeated,
        coalesce(
            lag(event_position) over ({{ by_position }}) = event_position and lag(step__half) over ({{ by_position }}) = step__half
            and lag(event_hash) over ({{ by_position }}) <> event_hash, false
        ) as step__is_conflict
        {%- if partial and not moves %}
        {%- for column in missing %},
        last_value(
            if(step__is_end or step__is_start or not {{ spark_cdc._is_missing(column) }}, struct({{ column.sql }} as value), null), true
        ) over ({{ by_position }} rows between unbounded preceding and current row) as {{ spark_cdc._quote('filled__' ~ column.name) }}
        {%- endfor %}
        {%- endif %}
    from newer
),
{% if not moves %}
resolved as (
    select
        key_hash,
        event_position,
        not step__is_end as step__is_alive,
        step__is_conflict,
        {{ (value_names + ['key_hash as step__root_key_hash']) | join(',\n        ') }}
    from ordered
    where {{ 'not step__is_repeated' if all_steps else 'step__is_last or step__is_conflict' }}
)
{%- else %}
-- how many rows a transaction has brought to a key, less those that it took away
grouped as (
    select
        *,
        cast(step__is_push as int) - cast(step__is_end as int) as step__change,
        sum(cast(step__is_push as int) - cast(step__is_end as int)) over in_transaction as step__net,
        lead(event_position) over (
            partition by key_hash, step__transaction_id order by event_position, step__half
        ) is null as step__ends_transaction
    from ordered
    where not step__is_repeated
    window in_transaction as (partition by key_hash, step__transaction_id order by event_position, step__half rows between unbounded preceding and current row)
),

-- a queue is never shorter than empty, and never empty after a row was written: what that adds to step__net
bounded as (
    select
        *,
        max(if(step__is_end, 0, 1) - step__net) over (
            partition by key_hash, step__transaction_id order by event_position, step__half rows between unbounded preceding and current row
        ) as step__raise,
        max(if(step__is_end, 0, 1) - step__net) over (
            partition by key_hash, step__transaction_id order by event_position, step__half rows between unbounded preceding and 1 preceding
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
                partition by key_hash order by event_position, step__half rows between unbounded preceding and 1 preceding
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
        {%- if partial %},
        step__is_push or not step__is_end and step__rows_before = 0 as step__is_new,
        step__is_end and step__rows_before > 0 as step__is_taken
        {%- endif %}
    from queued
),
{% if partial %}
-- where the row that a key now holds began; null: before these events
segmented as (
    select
        *,
        last_value(if(step__is_new or step__is_gone, event_position, null), true) over (
            partition by key_hash order by event_position, step__half rows between unbounded preceding and current row
        ) as step__segment,
        last_value(if(step__is_new or step__is_gone, event_position, null), true) over (
            partition by key_hash order by event_position, step__half rows between unbounded preceding and 1 preceding
        ) as step__segment_before
    from freed
),

-- which row leaves: the one that was there first
left_behind as (
    select
        *,
        if(
            step__at_first = 1 and sum(cast(step__is_taken as int)) over in_transaction = 1,
            first_value(step__segment_before) over in_transaction,
            get(
                collect_list(if(step__is_new, event_position, null)) over in_transaction,
                cast(sum(cast(step__is_taken as int)) over in_transaction as int) - step__at_first - 1
            )
        ) as step__left_segment
    from segmented
    window in_transaction as (partition by key_hash, step__transaction_id order by event_position, step__half rows between unbounded preceding and current row)
),

-- the two halves of a move share its position and the key that is given up
linked as (
    select
        *,
        max(if(step__is_taken, struct(step__left_segment as segment), null)) over (
            partition by event_position, coalesce(step__source_key_hash, key_hash)
        ) as step__left
    from left_behind
),

-- rows that come to a key without all of their columns, and where they come from
moved as (
    select
        key_hash,
        event_position as step__segment,
        if(step__left is null, key_hash, step__source_key_hash) as step__source_key_hash,
        if(step__left is null, event_position, step__left.segment) as step__source_segment,
        row_number() over (order by event_position, key_hash) as step__number
    from linked
    where step__source_key_hash is not null and not step__is_start
),

-- the move that brought the row to where this one takes it away
former as (
    select
        *,
        max(if(step__is_source, null, step__number)) over (partition by step__at_key_hash, step__at_segment) as step__former
    from (
        select
            *,
            inline(array(
                struct(key_hash as step__at_key_hash, step__segment as step__at_segment, false as step__is_source),
                struct(step__source_key_hash as step__at_key_hash, step__source_segment as step__at_segment, true as step__is_source)
            )) as (step__at_key_hash, step__at_segment, step__is_source)
        from moved
    ) as places
),

chained as (
    select
        array_sort(collect_list(struct(
            step__number as number, coalesce(step__former, step__number) as former, key_hash, step__segment as segment,
            step__source_key_hash as source_key_hash, step__source_segment as source_segment
        ))) as step__moves
    from former
    where step__is_source
),

-- pointers are doubled until they reach the first move of each row
jumped as (
    select
        step__moves,
        aggregate(
            sequence(1, 1 + cast(ceil(log2(1 + size(step__moves))) as int)),
            transform(step__moves, each -> each.former),
            (pointers, round) -> transform(pointers, pointer -> pointers[cast(pointer - 1 as int)])
        ) as step__origins
    from chained
),

rooted as (
    select
        inline(transform(step__moves, (each, i) -> struct(
            each.key_hash as key_hash,
            each.segment as step__segment,
            step__moves[cast(step__origins[i] - 1 as int)].source_key_hash as step__root_key_hash,
            step__moves[cast(step__origins[i] - 1 as int)].source_segment as step__root_segment
        )))
    from jumped
),

followed as (
    select /*+ broadcast(rooted) */
        linked.*,
        coalesce(rooted.step__root_key_hash, linked.key_hash) as step__row_key_hash,
        if(rooted.step__root_key_hash is null, linked.step__segment, rooted.step__root_segment) as step__row_segment
    from linked
    left join rooted
        on linked.key_hash = rooted.key_hash and linked.step__segment = rooted.step__segment
),

filled as (
    select
        *
        {%- for column in missing %},
        last_value(
            if(not step__is_end and (step__is_start or not {{ spark_cdc._is_missing(column) }}), struct({{ column.sql }} as value), null), true
        ) over of_row as {{ spark_cdc._quote('filled__' ~ column.name) }}
        {%- endfor %}
    from followed
    window of_row as (partition by step__row_key_hash, step__row_segment order by event_position, step__half rows between unbounded preceding and current row)
),
{% endif %}
ranked as (
    select
        *,
        first_value(event_position) over newest_first as step__last_position,
        not first_value(step__is_gone) over newest_first as step__remains
    from {{ 'filled' if partial else 'freed' }}
    window newest_first as (partition by key_hash order by event_position desc, step__half desc rows between unbounded preceding and current row)
),

resolved as (
    select
        key_hash,
        {{ 'event_position' if all_steps else 'step__last_position as event_position' }},
        {{ 'not step__is_gone' if all_steps else 'step__remains' }} as step__is_alive,
        step__is_conflict,
        {{ (value_names + ['if(step__row_segment is null, step__row_key_hash, null)' if partial else 'key_hash']) | join(',\n        ') }} as step__root_key_hash
    from (
        select
            *,
            row_number() over (
                partition by key_hash order by step__is_conflict desc, step__is_end and step__remains, event_position desc, step__half desc
            ) as recency
        from ranked
    ) as newest
    where {{ 'step__is_gone or not step__is_end' if all_steps else 'recency = 1 or step__is_conflict' }}
)
{%- endif %}
{%- endif %}
{%- endmacro -%}


{%- macro _filled_names(columns) -%}
    {%- set names = [] -%}
    {%- for column in columns -%}{%- do names.append(spark_cdc._quote('filled__' ~ column.name)) -%}{%- endfor -%}
    {{ return(names) }}
{%- endmacro -%}


{#- Whether an event says nothing of a column. -#}
{%- macro _is_missing(column) -%}
    {%- set name = spark_cdc._literal(column.name) -%}
    {{ return('coalesce(array_contains(event_absent, ' ~ name ~ ') or array_contains(event_unavailable, ' ~ name ~ '), array_contains(event_absent, '
        ~ name ~ '), array_contains(event_unavailable, ' ~ name ~ '), false)') }}
{%- endmacro -%}


{#- The steps of all events that may count: one for each, and one more for a key that is given up. -#}
{%- macro _event_steps_sql(entity, events, summary, moves, partial, all_steps) -%}
{%- set columns = entity.stored -%}
{%- set condition -%}
note is null
    and event_op not in ('control', 'truncate')
    {%- if summary.truncated %}
    and event_position > {{ spark_cdc._position_literal(summary.truncated) }}
    {%- endif %}
{%- endset -%}
select
    incoming.key_hash,
    incoming.event_position,
    incoming.event_hash,
    {%- if all_steps %}
    incoming.event_op,
    incoming.event_time,
    incoming.event_transaction,
    {%- endif %}
    1 as step__half,
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
    or incoming.event_op = 'insert' and {{ '(incoming.event_unavailable is null or split.key_hash is not null)' if summary.splits else 'incoming.event_unavailable is null' }}
        as step__is_push,
    coalesce(incoming.event_transaction, to_json(incoming.event_position)) as step__transaction_id,
    {{ 'coalesce(incoming.old_key_hash, split.key_hash)' if summary.splits else 'incoming.old_key_hash' }} as step__source_key_hash,
    {%- endif %}
    {%- if all_steps %}
    incoming.business_date,
    incoming.load_id,
    {%- endif %}
    {%- if partial %}
    incoming.event_absent,
    incoming.event_unavailable,
    {%- endif %}
    {% for column in columns -%}
    incoming.{{ column.sql }}{{ ',
    ' if not loop.last }}
    {%- endfor %}
from {{ events }} as incoming
{%- if moves and summary.splits %}
left join (
    select
        event_position,
        event_transaction,
        min(key_hash) as key_hash
    from {{ events }}
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
    incoming.{{ condition | replace(' and event_', ' and incoming.event_') }}
{%- if moves %}

union all

select
    old_key_hash as key_hash,
    event_position,
    event_hash,
    {%- if all_steps %}
    'delete' as event_op,
    event_time,
    event_transaction,
    {%- endif %}
    0 as step__half,
    true as step__is_end,
    false as step__is_start,
    false as step__is_push,
    coalesce(event_transaction, to_json(event_position)) as step__transaction_id,
    cast(null as binary) as step__source_key_hash,
    {%- if all_steps %}
    business_date,
    load_id,
    {%- endif %}
    {%- if partial %}
    cast(null as array<string>) as event_absent,
    cast(null as array<string>) as event_unavailable,
    {%- endif %}
    {% for column in columns -%}
    {{ spark_cdc._quote('old__' ~ column.name) if column.role == 'key' else 'cast(null as ' ~ column.data_type ~ ')' }} as {{ column.sql }}{{ ',
    ' if not loop.last }}
    {%- endfor %}
from {{ events }}
where
    {{ condition }}
    and old_key_hash is not null
{%- endif %}
{%- endmacro -%}
