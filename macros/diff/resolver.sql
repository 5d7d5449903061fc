{#- Resolving as common table expressions: what the events of a load do to each key, ranked by the
    declared order in one pass. The last of them is `resolved`: one row per key that something was
    applied to.

    Columns of its own begin with cdc__, so that they never meet a column of the entity. An event
    is one step of its key, or two where the key changes: the old key is given up (half 0), the new
    one taken (half 1). The last step of a key tells whether it is there; values that a row lacks
    come from the row's earlier steps since it began, else from its prior state.

    steps (_event_steps_sql) -> newer: without those that come too late -> resolved, in one of three
    ways:
    - whole rows under keys that stay: the step with the highest position (here);
    - keys that stay: the last step of each key, beside what its row's earlier steps say
      (_position_order_ctes);
    - keys that move: rows queue under a key (_occupancy_ctes), and a row that lacks columns is
      followed through its keys (_fill_partial_ctes).

    Arguments: entity, events (relation, or name of a CTE, with the columns of _event_columns()),
    summary (of _event_summary()), prior (name of a CTE with key_hash, event_position and
    operation of the keys' last rows, or none), carried (columns of the events, load_id among
    them, that are handed on with every step; none: of each key the last step is wanted), deletes
    (what has all inserts and deletes of `events`, where that is read with less). Columns
    of `resolved`: key_hash, event_position (last applied), cdc__is_alive, cdc__is_conflict,
    those carried (and cdc__half, by which they are ordered at one place), the key columns,
    those of _missing_of() as `cdc__filled_<name>` (null or a struct with the value) where partial,
    the others under their names; cdc__root_key_hash (whose prior row fills what is still
    missing, or null) where partial. -#}
{%- macro _resolve_ctes(entity, events, summary, prior=none, carried=[], deletes=none) -%}
{%- set missing = spark_cdc._missing_of(entity, summary) -%}
{%- set names, compared = carried + entity.key_columns | map(attribute='sql') | list, [] -%}
{%- for column in missing -%}{%- do names.append(spark_cdc._quote('cdc__filled_' ~ column.name)) -%}{%- endfor -%}
{%- do names.extend(entity.stored | rejectattr('role', 'equalto', 'key') | reject('in', missing) | map(attribute='sql')) -%}
{%- for column in entity.compared -%}{%- do compared.append(dict(column, sql='steps.' ~ column.sql)) -%}{%- endfor -%}
{%- set how = {
    'entity': entity,
    'events': events,
    'deletes': deletes or events,
    'summary': summary,
    'carried': carried,
    'moves': spark_cdc._keys_move(entity, summary),
    'has_prior': prior is not none,
    'partial': summary.partial,
    'missing': missing,
    'value_names': names,
} -%}
steps as (
    {{ spark_cdc._event_steps_sql(how) | indent(4) }}
),

{% set was_alive = spark_cdc._is_alive('prior', summary.truncated) -%}
{%- if prior and (summary.late_possible or how.moves) -%}
-- what is not newer than what was last applied to its key changes nothing
newer as (
    select
        steps.*,
        coalesce({{ was_alive }}, false) as cdc__existed
        {%- if how.moves %},
        coalesce(not {{ was_alive }}, false) as cdc__was_dead,
        -- a row that is inserted as it is there is sent again
        coalesce(
            cdc__is_inserted and cdc__may_queue and {{ was_alive }}
            and prior.nonkey_hash = {{ spark_cdc._hash(compared) | indent(12) }}, false
        ) as cdc__is_known
        {%- endif %}
    from steps
    left join {{ prior }} as prior
        on steps.key_hash = prior.key_hash
    where prior.event_position is null or steps.event_position > prior.event_position
),
{%- else -%}
newer as (
    select
        *,
        false as cdc__existed
    from steps
),
{%- endif %}

{% if how.moves or how.partial or carried or summary.get('conflicts', true) -%}
{{ spark_cdc._position_order_ctes(how) }}
{%- else -%}
resolved as (
    select
        key_hash,
        event_position,
        not cdc__is_end as cdc__is_alive,
        false as cdc__is_conflict,
        {{ (names + ['key_hash as cdc__root_key_hash']) | join(',\n        ') }}
    from (
        select
            *,
            row_number() over (partition by key_hash order by event_position desc) as cdc__rank
        from newer
    ) as newest
    where cdc__rank = 1
)
{%- endif %}
{%- endmacro -%}


{#- The steps of each key in their order, equal ones at one place told from different ones; of keys
    that stay the last one, beside what the earlier steps of its row say.
    Arguments: how (of _resolve_ctes()). -#}
{%- macro _position_order_ctes(how) -%}
{%- set by_position = 'partition by key_hash order by event_position, cdc__half, event_hash' ~ (', load_id' if how.carried else '') -%}
{%- set at_same_place -%}
lag(event_position) over ({{ by_position }}) = event_position and lag(cdc__half) over ({{ by_position }}) = cdc__half
{%- endset -%}
ordered as (
    select
        *,
        lead(event_position) over ({{ by_position }}) is null as cdc__is_last,
        coalesce(
            {{ at_same_place }}
            and lag(event_hash) over ({{ by_position }}) = event_hash, false
        ) as cdc__is_repeated,
        coalesce(
            {{ at_same_place }}
            and lag(event_hash) over ({{ by_position }}) <> event_hash, false
        ) as cdc__is_conflict
        {%- if how.partial and not how.moves %}
        {%- for column in how.missing %},
        last_value(
            if(cdc__is_end or cdc__is_start or not {{ spark_cdc._is_missing(column) }}, struct({{ column.sql }} as value), null), true
        ) over ({{ by_position }} rows between unbounded preceding and current row) as {{ spark_cdc._quote('cdc__filled_' ~ column.name) }}
        {%- endfor %}
        {%- endif %}
    from newer
),

{% if how.moves -%}
{{ spark_cdc._occupancy_ctes(how) }}
{%- else -%}
resolved as (
    select
        key_hash,
        event_position,
        not cdc__is_end as cdc__is_alive,
        cdc__is_conflict,
        {%- if how.carried %}
        cdc__half,
        {%- endif %}
        {{ (how.value_names + ['key_hash as cdc__root_key_hash']) | join(',\n        ') }}
    from ordered
    where {{ 'not cdc__is_repeated' if how.carried else 'cdc__is_last or cdc__is_conflict' }}
)
{%- endif %}
{%- endmacro -%}


{#- Where keys move, a transaction may take a key before its former row has left it (a swap, `id =
    id + 1`). Rows then queue under the key: who leaves first is the row that was there first. How
    many there are is a sum that is kept from falling below a floor (0, or 1 where a row was
    written), which is the sum plus a running maximum: q(t) = s(t) + max(q(0), max over i <= t of
    (floor(i) - s(i))), as for a reflected random walk. A transaction is what follows each other
    under a key, since its number may come again. What is sent again adds no row: an arrival of a
    whole row, equal to the one before it, or of any from where no row is left (nothing came there
    in this load, or since a truncate, which is half 2 and ends what was known); an insert behind
    another one, or of a row that nothing shows to come from another key. Nor does it take one: a
    key change of a whole row right behind itself. Arguments: how (of _resolve_ctes()). -#}
{%- macro _occupancy_ctes(how) -%}
{%- set so_far = 'order by event_position, cdc__half rows between unbounded preceding and current row' -%}
{%- set so_far_before = 'order by event_position, cdc__half rows between unbounded preceding and 1 preceding' -%}
{%- set last = 'filled' if how.partial else 'freed' -%}
{%- set root -%}
{{ 'if(cdc__row_segment is null, cdc__row_key_hash, null)' if how.partial else 'key_hash' }} as cdc__root_key_hash
{%- endset -%}
{%- set before_key = 'partition by key_hash ' ~ so_far_before -%}
{%- set tells_again = how.summary.get('key_changes', true) -%}
told as (
    select
        *,
        {%- if tells_again %}
        cdc__half = 0 and ({{ 'cdc__was_dead or ' if how.has_prior }}coalesce(lag(cdc__half) over of_key <> 2, false))
        and not coalesce(last_value(
            case when cdc__half = 2 then false when not cdc__is_end then true end, true
        ) over ({{ before_key }}), false) as cdc__leaves_nothing,
        {%- endif %}
        coalesce(cdc__transaction_id <> lag(cdc__transaction_id) over of_key, false) as cdc__begins_transaction,
        coalesce(
            cdc__half = 0 and cdc__is_start and lag(cdc__half) over of_key = 0 and lag(event_hash) over of_key = event_hash
            and lag(cdc__transaction_id) over of_key = cdc__transaction_id, false
        ) as cdc__leaves_again,
        last_value(
            if(
                cdc__is_end or cdc__arrives or cdc__is_inserted,
                struct(cdc__transaction_id as transaction_id, cdc__is_inserted as is_inserted, cdc__source_key_hash as source_key_hash, event_hash),
                null
            ), true
        ) over ({{ before_key }}) as cdc__before
    from ordered
    where not cdc__is_repeated
    window of_key as (partition by key_hash order by event_position, cdc__half)
),

pushing as (
    select
        *,
        cdc__arrives and not coalesce(
            cdc__is_start and cdc__before.source_key_hash = cdc__source_key_hash and cdc__before.event_hash = event_hash
            and cdc__before.transaction_id = cdc__transaction_id, false
        )
        {%- if tells_again %}
        and not coalesce(max(cdc__leaves_nothing) over (partition by event_position, event_hash, cdc__transaction_id), false)
        {%- endif %}
        or cdc__is_inserted and cdc__may_queue and not coalesce(
            cdc__before.is_inserted and cdc__before.transaction_id = cdc__transaction_id, false
        ){{ ' and not cdc__is_known' if how.has_prior }} as cdc__is_push,
        cdc__is_end and not cdc__leaves_again as cdc__is_pull,
        count_if(cdc__begins_transaction) over (partition by key_hash {{ so_far }}) as cdc__transaction
    from told
),

-- how many rows a transaction has brought to a key, less those that it took away
grouped as (
    select
        *,
        cast(cdc__is_push as int) - cast(cdc__is_pull as int) as cdc__change,
        sum(cast(cdc__is_push as int) - cast(cdc__is_pull as int)) over in_transaction as cdc__net,
        lead(event_position) over (
            partition by key_hash, cdc__transaction order by event_position, cdc__half
        ) is null as cdc__ends_transaction
    from pushing
    window in_transaction as (partition by key_hash, cdc__transaction {{ so_far }})
),

-- a queue is never shorter than empty, nor empty after a row was written: what it adds to cdc__net
bounded as (
    select
        *,
        max(if(cdc__is_end, 0, 1) - cdc__net) over (
            partition by key_hash, cdc__transaction {{ so_far }}
        ) as cdc__raise,
        max(if(cdc__is_end, 0, 1) - cdc__net) over (
            partition by key_hash, cdc__transaction {{ so_far_before }}
        ) as cdc__raise_before
    from grouped
),

-- whether the key is there before a transaction: as after the one before it, where that is known
occupied as (
    select
        *,
        cast(coalesce(
            last_value(
                case
                    when not cdc__ends_transaction then null
                    when cdc__net + cdc__raise > 0 then true
                    when cdc__net < 0 then false
                end, true
            ) over ({{ before_key }}), cdc__existed
        ) as int) as cdc__at_first
    from bounded
),

{% set rows_before = '(cdc__net - cdc__change + greatest(cdc__at_first, cdc__raise_before))' -%}
freed as (
    select
        *,
        cdc__is_end and cdc__net + greatest(cdc__at_first, cdc__raise) = 0 as cdc__is_gone
        {%- if how.partial %},
        cdc__is_push or not cdc__is_end and {{ rows_before }} = 0 as cdc__is_new,
        cdc__is_pull and {{ rows_before }} > 0 as cdc__is_taken
        {%- endif %}
    from occupied
),

{% if how.partial -%}
{{ spark_cdc._fill_partial_ctes(how) }}

{% endif -%}
{% if how.carried -%}
resolved as (
    select
        key_hash,
        event_position,
        not cdc__is_gone as cdc__is_alive,
        cdc__is_conflict,
        cdc__half,
        {{ (how.value_names + [root]) | join(',\n        ') }}
    from {{ last }}
    where cdc__is_gone or not cdc__is_end
)
{%- else -%}
ranked as (
    select
        *,
        first_value(event_position) over newest_first as cdc__last_position,
        not first_value(cdc__is_gone) over newest_first as cdc__remains
    from {{ last }}
    window newest_first as (partition by key_hash order by event_position desc, cdc__half desc rows between unbounded preceding and current row)
),

resolved as (
    select
        key_hash,
        cdc__last_position as event_position,
        cdc__remains as cdc__is_alive,
        cdc__is_conflict,
        {{ (how.value_names + [root]) | join(',\n        ') }}
    from (
        select
            *,
            row_number() over (
                partition by key_hash order by cdc__is_conflict desc, cdc__is_end and cdc__remains, event_position desc, cdc__half desc
            ) as cdc__rank
        from ranked
    ) as newest
    where cdc__rank = 1 or cdc__is_conflict
)
{%- endif %}
{%- endmacro -%}


{#- Where rows that move lack columns, each is followed through its keys to where it began: a chain
    of moves is cut short by pointer jumping over one narrow array of all moves, in a fixed number
    of rounds. Its earlier steps then fill what it lacks.
    Arguments: how (of _resolve_ctes()). -#}
{%- macro _fill_partial_ctes(how) -%}
{%- set so_far = 'order by event_position, cdc__half rows between unbounded preceding and current row' -%}
{%- set so_far_before = 'order by event_position, cdc__half rows between unbounded preceding and 1 preceding' -%}
-- where the row that a key now holds began; null: before these events
segmented as (
    select
        *,
        last_value(if(cdc__is_new or cdc__is_gone, event_position, null), true) over (
            partition by key_hash {{ so_far }}
        ) as cdc__segment,
        last_value(if(cdc__is_new or cdc__is_gone, event_position, null), true) over (
            partition by key_hash {{ so_far_before }}
        ) as cdc__segment_before
    from freed
),

-- which row leaves: the one that was there first
left_behind as (
    select
        *,
        if(
            cdc__at_first = 1 and sum(cast(cdc__is_taken as int)) over in_transaction = 1,
            first_value(cdc__segment_before) over in_transaction,
            get(
                collect_list(if(cdc__is_new, event_position, null)) over in_transaction,
                cast(sum(cast(cdc__is_taken as int)) over in_transaction as int) - cdc__at_first - 1
            )
        ) as cdc__left_segment
    from segmented
    window in_transaction as (partition by key_hash, cdc__transaction {{ so_far }})
),

-- the two halves of a move share its position and the key that is given up
linked as (
    select
        *,
        max(if(cdc__is_taken, struct(cdc__left_segment as segment), null)) over (
            partition by event_position, coalesce(cdc__source_key_hash, key_hash)
        ) as cdc__left
    from left_behind
),

-- rows that come to a key without all of their columns, and where they come from
moved as (
    select
        key_hash,
        event_position as cdc__segment,
        if(cdc__left is null, key_hash, cdc__source_key_hash) as cdc__source_key_hash,
        if(cdc__left is null, event_position, cdc__left.segment) as cdc__source_segment,
        row_number() over (order by event_position, key_hash) as cdc__number
    from linked
    where cdc__source_key_hash is not null and not cdc__is_start and cdc__is_new
),

-- the move that brought the row to where this one takes it away
former as (
    select
        *,
        max(if(cdc__is_source, null, cdc__number)) over (partition by cdc__at_key_hash, cdc__at_segment) as cdc__former
    from (
        select
            *,
            inline(array(
                struct(key_hash as cdc__at_key_hash, cdc__segment as cdc__at_segment, false as cdc__is_source),
                struct(cdc__source_key_hash as cdc__at_key_hash, cdc__source_segment as cdc__at_segment, true as cdc__is_source)
            )) as (cdc__at_key_hash, cdc__at_segment, cdc__is_source)
        from moved
    ) as places
),

chained as (
    select
        array_sort(collect_list(struct(
            cdc__number as number, coalesce(cdc__former, cdc__number) as former, key_hash, cdc__segment as segment,
            cdc__source_key_hash as source_key_hash, cdc__source_segment as source_segment
        ))) as cdc__moves
    from former
    where cdc__is_source
),

-- pointers are doubled until they reach the first move of each row
jumped as (
    select
        cdc__moves,
        aggregate(
            sequence(1, 1 + cast(ceil(log2(1 + size(cdc__moves))) as int)),
            transform(cdc__moves, each -> each.former),
            (pointers, round) -> transform(pointers, pointer -> pointers[cast(pointer - 1 as int)])
        ) as cdc__origins
    from chained
),

rooted as (
    select
        inline(transform(cdc__moves, (each, i) -> struct(
            each.key_hash as key_hash,
            each.segment as cdc__segment,
            cdc__moves[cast(cdc__origins[i] - 1 as int)].source_key_hash as cdc__root_key_hash,
            cdc__moves[cast(cdc__origins[i] - 1 as int)].source_segment as cdc__root_segment
        )))
    from jumped
),

{% set row_key = 'coalesce(rooted.cdc__root_key_hash, linked.key_hash)' -%}
{%- set row_segment = 'if(rooted.cdc__root_key_hash is null, linked.cdc__segment, rooted.cdc__root_segment)' -%}
filled as (
    select /*+ broadcast(rooted) */
        linked.*,
        {{ row_key }} as cdc__row_key_hash,
        {{ row_segment }} as cdc__row_segment
        {%- for column in how.missing %},
        last_value(
            if(
                not linked.cdc__is_end and (linked.cdc__is_start or not {{ spark_cdc._is_missing(column) }}),
                struct(linked.{{ column.sql }} as value), null
            ), true
        ) over of_row as {{ spark_cdc._quote('cdc__filled_' ~ column.name) }}
        {%- endfor %}
    from linked
    left join rooted
        on linked.key_hash = rooted.key_hash and linked.cdc__segment = rooted.cdc__segment
    window of_row as (partition by {{ row_key }}, {{ row_segment }} {{ so_far }})
),
{%- endmacro -%}


{#- What _resolve_ctes() does, of events that are whole rows under keys that stay, each at a place
    of its own that is one number: the highest place of each key is found among narrow columns and
    sent to the events, so that no row is shuffled but those that end a key, and none is hashed.
    Here `last`, a narrow row per key; _last_ctes_resolved() has `resolved`, as of
    _resolve_ctes(). -#}
{%- macro _latest_only_ctes(entity, events) -%}
{%- set keys = entity.key_columns | map(attribute='sql') | list -%}
last as (
    select
        {{ keys | join(',\n        ') }},
        cdc__place,
        array(1L, cdc__place) as event_position,
        {{ spark_cdc._hash(entity.key_columns) | indent(8) }} as key_hash
    from (
        select
            {{ keys | join(',\n            ') }},
            max(cdc__place) as cdc__place
        from {{ events }}
        where event_op <> 'control'
        group by {{ keys | join(', ') }}
    ) as places
)
{%- endmacro -%}


{%- macro _last_ctes_resolved(entity, events) -%}
resolved as (
    select /*+ broadcast(last) */
        last.key_hash,
        last.event_position,
        incoming.event_op <> 'delete' as cdc__is_alive,
        false as cdc__is_conflict,
        {%- for column in entity.stored %}
        incoming.{{ column.sql }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ events }} as incoming
    inner join last
        on
            incoming.cdc__place = last.cdc__place
            {%- for column in entity.key_columns %}
            and incoming.{{ column.sql }} = last.{{ column.sql }}
            {%- endfor %}
)
{%- endmacro -%}


{#- Events that name a row by another unique key, given the key that bore that name just before:
    from the state before the load and from earlier events of it. A row that was never known by that
    name has nothing to be deleted; an update of it counts as an update of its key.
    Arguments: run (its load's base is none where there is no state), events, carried (of
    _resolve_ctes()). -#}
{%- macro _alternate_key_ctes(run, events, carried=[]) -%}
{%- set entity = run.entity -%}
{%- set bearers = {'key_hash': 'key_hash'} -%}
{%- for key in entity.key_columns -%}{%- do bearers.update({key.name: 'bearer.' ~ key.sql, 'cdc__old_' ~ key.name: 'bearer.' ~ key.sql}) -%}{%- endfor -%}
{%- set bearer = 'struct(' ~ entity.key_columns | map(attribute='sql') | join(', ') ~ ') as bearer' -%}
names as (
    select
        explode(alternate_hashes) as alternate_hash,
        event_position,
        key_hash,
        {{ bearer }}
    from {{ events }}
    where cdc__note is null and event_op in ('insert', 'update', 'upsert', 'read')
    {%- if run.load.base is not none %}

    union all

    select
        explode({{ spark_cdc._alternate_hash_array(entity) }}) as alternate_hash,
        cast(null as array<bigint>) as event_position,
        key_hash,
        {{ bearer }}
    from (
        {{ spark_cdc._prior_sql(run, ['event_position']) | indent(8) }}
    ) as state
    {%- endif %}
),

bearers as (
    select
        incoming.old_alternate_hash,
        incoming.event_position,
        max(struct(names.event_position as since, names.key_hash as key_hash, names.bearer as bearer)) as former
    from {{ events }} as incoming
    inner join names
        on
            incoming.old_alternate_hash = names.alternate_hash
            and (names.event_position is null or names.event_position < incoming.event_position)
    where incoming.cdc__note is null
    group by incoming.old_alternate_hash, incoming.event_position
),

named as (
    select
        {%- for column in spark_cdc._event_columns_of_rows(entity) %}
        {%- set own, bearer = 'incoming.' ~ column.sql, bearers.get(column.name) %}
        {%- if column.name == 'old_key_hash' %}
        if(incoming.event_op <> 'delete' and bearers.former.key_hash <> incoming.key_hash, bearers.former.key_hash, {{ own }})
        {%- else %}
        {{ 'coalesce(' ~ own ~ ', bearers.former.' ~ bearer ~ ')' if bearer else own }}
        {%- endif %} as {{ column.sql }}{{ ',' if not loop.last }}
        {%- endfor %}
        {%- for name in carried if name not in spark_cdc._event_columns_of_rows(entity) | map(attribute='name') %},
        incoming.{{ name }}
        {%- endfor %}
    from {{ events }} as incoming
    left join bearers
        on incoming.old_alternate_hash = bearers.old_alternate_hash and incoming.event_position = bearers.event_position
    where incoming.cdc__note is null and (incoming.old_alternate_hash is null or incoming.key_hash is not null or bearers.former is not null)
)
{%- endmacro -%}
