{#- Where rows that move lack columns, each is followed through its keys to where it began: a chain of moves
    is cut short by pointer jumping over one narrow array of all moves, in a fixed number of rounds. Its earlier steps then fill what it lacks.
    Arguments: how (of _resolve_ctes()). -#}
{%- macro _follow_ctes(how) -%}
{%- set so_far = 'order by event_position, step__half rows between unbounded preceding and current row' -%}
{%- set so_far_before = 'order by event_position, step__half rows between unbounded preceding and 1 preceding' -%}
-- where the row that a key now holds began; null: before these events
segmented as (
    select
        *,
        last_value(if(step__is_new or step__is_gone, event_position, null), true) over (
            partition by key_hash {{ so_far }}
        ) as step__segment,
        last_value(if(step__is_new or step__is_gone, event_position, null), true) over (
            partition by key_hash {{ so_far_before }}
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
    window in_transaction as (partition by key_hash, step__transaction {{ so_far }})
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
    where step__source_key_hash is not null and not step__is_start and step__is_new
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

{% set row_key = 'coalesce(rooted.step__root_key_hash, linked.key_hash)' -%}
{%- set row_segment = 'if(rooted.step__root_key_hash is null, linked.step__segment, rooted.step__root_segment)' -%}
filled as (
    select /*+ broadcast(rooted) */
        linked.*,
        {{ row_key }} as step__row_key_hash,
        {{ row_segment }} as step__row_segment
        {%- for column in how.missing %},
        last_value(
            if(
                not linked.step__is_end and (linked.step__is_start or not {{ spark_cdc._is_missing(column) }}),
                struct(linked.{{ column.sql }} as value), null
            ), true
        ) over of_row as {{ spark_cdc._quote('filled__' ~ column.name) }}
        {%- endfor %}
    from linked
    left join rooted
        on linked.key_hash = rooted.key_hash and linked.step__segment = rooted.step__segment
    window of_row as (partition by {{ row_key }}, {{ row_segment }} {{ so_far }})
),
{%- endmacro -%}
