{#- Tagging as SQL: each row of a load compared with the state before it. Which becomes what:
    docs/operations.md, full loads and deltas. A row with a note is rejected (R); one that breaks a
    rule that only warns has the rule's name as its note, and where it is not written otherwise, a
    mark is written of it (W). Where rejected rows are set aside (entity.quarantine), their keys
    stay as they were: X in a delta, and in a full load by what _retained_sql() adds. Unchanged rows
    that a full load does not write (S) leave a mark, their key, where it writes what is gone apart
    (load.deletes_separately), for _deleted_sql(). Nothing is read from the catalogue.
    Arguments: run (entity, load, prior: relation or CTE with the ledger's columns, broadcast:
    whether the keys of the loads since the checkpoint are few), incoming (relation or CTE with the
    columns of _stage_sql()).
    Returns a query whose columns are the ledger's, in its order. -#}
{%- macro _classify_rows_sql(run, incoming) -%}
{%- set is_full = run.load.load_type == 'full' -%}
{#- a row that a full snapshot flags as deleted is as good as missing -#}
{%- set flags_deletes = run.entity.deleted_when and not is_full -%}
{%- set incoming = '(select * from ' ~ incoming ~ ' where cdc__note is not null or not cdc__deleted)' if run.entity.deleted_when and is_full else incoming | string -%}
{%- if run.load.base is none -%}
-- the first load: there is no state before it
select
    {{ spark_cdc._payload(run.entity) | join(',
    ') }},
    {{ spark_cdc._load_start(run) }} as eff_start_date,
    {{ spark_cdc._rule_noted(run.entity) }},
    {{ spark_cdc._partition(run.load) | indent(4) }},
    case when cdc__note is not null then 'R' {{ "when cdc__deleted then 'T' else 'I'" if flags_deletes else "else 'I'" }} end as operation
from {{ incoming }}{{ ' as incoming' if incoming.startswith('(') }}
{%- else -%}
{%- set entity, load = run.entity, run.load -%}
{%- set start = spark_cdc._load_start(run) -%}
{%- set writes_unchanged = not is_full or load.is_checkpoint -%}
{%- set asks_untracked = entity.untracked | length > 0 and not writes_unchanged -%}
{%- set marks_unchanged = load.get('deletes_separately') and not writes_unchanged -%}
{%- set deletes = is_full and not load.get('deletes_separately') or flags_deletes -%}
{%- set carries_over = load.is_checkpoint and not is_full -%}
{%- set warns = spark_cdc._rule_mask(entity.rules, ['warn']) > 0 -%}
{%- set marks = (['S'] if marks_unchanged else []) + (['W'] if warns and not writes_unchanged else []) -%}
with prior as (
    {{ (spark_cdc._prior_sql(run) if is_full
        else spark_cdc._prior_of_sql(run, incoming, spark_cdc._payload_hashes(entity) + ['eff_start_date'])) | indent(4) }}
),

{# where the prior hashes are few enough to be broadcast, the payload that came in stays where it
    was read -#}
compared as (
    select{{ ' /*+ broadcast(prior) */' if is_full and load.prior_rows <= entity.checkpoint.rows }}
        incoming.*,
        case
            when incoming.cdc__note is not null then 'R'
            {%- if flags_deletes %}
            when incoming.cdc__deleted and prior.key_hash is null then 'T'
            when incoming.cdc__deleted then 'D'
            {%- endif %}
            when prior.key_hash is null then 'I'
            when incoming.nonkey_hash <> prior.nonkey_hash then 'U'
            {%- if asks_untracked %}
            when not incoming.untracked_hash <=> prior.untracked_hash then 'N'
            {%- endif %}
            {%- if 'W' in marks %}
            when incoming.cdc__warned is not null then 'W'
            {%- endif %}
            else '{{ 'N' if writes_unchanged else 'S' }}'
        end as operation,
        prior.eff_start_date
    from {{ incoming }} as incoming
    left join prior
        on incoming.key_hash = prior.key_hash
),

tagged as (
    {%- set is_mark = "operation = '" ~ marks | first ~ "'" if marks | length == 1 else "operation in ('S', 'W')" %}
    select
        {% for column in spark_cdc._payload(entity) -%}
        {{ spark_cdc._aliased('if(' ~ is_mark ~ ', null, ' ~ column ~ ')', column) if marks and column != 'key_hash' else column }},
        {% endfor -%}
        {{ "if(operation = 'N', eff_start_date, " ~ start ~ ')' if writes_unchanged or asks_untracked else start }} as eff_start_date,
        {{ spark_cdc._rule_noted(entity) }},
        {{ spark_cdc._partition(load) | indent(8) }},
        operation
    from compared
    {%- if not writes_unchanged and not marks_unchanged %}
    where operation <> 'S'
    {%- elif flags_deletes %}
    where operation <> 'D'
    {%- endif %}
)
{%- if deletes and is_full %},

deleted as (
    select
        {{ spark_cdc._prior_row(run, 'prior', 'D', start) | indent(8) }}
    from prior
    left anti join {{ incoming }} as incoming
        on prior.key_hash = incoming.key_hash
)
{%- elif deletes %},

-- the rows that a delta deletes, as they were: read in a pass that Spark leaves out if empty
deleted as (
    select
        {{ spark_cdc._prior_row(run, 'prior', 'D', start) | indent(8) }}
    from {{ incoming }} as incoming
    inner join (
        {{ spark_cdc._prior_of_sql(run, incoming, spark_cdc._payload(entity), 'cdc__deleted') | indent(8) }}
    ) as prior
        on incoming.key_hash = prior.key_hash
    where incoming.cdc__deleted{{ ' and incoming.cdc__note is null' if entity.quarantine }}
)
{%- endif %}
{%- if carries_over %},

carried_over as (
    select
        {{ spark_cdc._prior_row(run, 'carried', 'X') | indent(8) }}
    from (
        {{ spark_cdc._prior_sql(run) | indent(8) }}
    ) as carried
    left anti join {{ ('(select key_hash from ' ~ incoming ~ ' where cdc__note is null)') if entity.quarantine else incoming }} as incoming
        on carried.key_hash = incoming.key_hash
)
{%- endif %}

select * from tagged
{%- for name, wanted in [('deleted', deletes), ('carried_over', carries_over)] if wanted %}
union all
select * from {{ name }}
{%- endfor %}
{%- endif -%}
{%- endmacro -%}


{#- The rows that are gone, as they were (D), of a full load that has written what came in: the keys
    of all these rows stand in the ledger, those of unchanged ones as marks. As long as the keys are
    few, the payload before meets them where it is read; else the hashes meet first, and the payload
    those that are left, so that it is not shuffled unless these are many, too.
    Arguments: run (entity, load, prior: relation of the ledger, broadcast), supplied_rows (that
    came in), deleted_rows (that seem to be gone).
    Returns a query whose columns are the ledger's, in its order. -#}
{%- macro _deleted_sql(run, supplied_rows, deleted_rows) -%}
{%- set start = spark_cdc._load_start(run) -%}
{%- set supplied_few, deleted_few = spark_cdc._is_few(run.entity, supplied_rows), spark_cdc._is_few(run.entity, deleted_rows) -%}
with prior as (
    {{ spark_cdc._prior_sql(run) | indent(4) }}
),

supplied as (
    select key_hash
    from {{ spark_cdc._from(run.prior) | indent(4) }}
    where
        {{ spark_cdc._in_loads([run.load.load_id]) }}
        and operation in {{ spark_cdc._operations('met') }}
)
{%- if not supplied_few %},

deleted as (
    select prior.key_hash
    from prior
    left anti join supplied
        on prior.key_hash = supplied.key_hash
)
{%- endif %}

select{{ ' /*+ broadcast(supplied) */' if supplied_few else ' /*+ broadcast(deleted) */' if deleted_few }}
    {{ spark_cdc._prior_row(run, 'prior', 'D', start) | indent(4) }}
from prior
{%- if supplied_few %}
left anti join supplied
    on prior.key_hash = supplied.key_hash
{%- else %}
left semi join deleted
    on prior.key_hash = deleted.key_hash
{%- endif %}
{%- endmacro -%}


{#- Whether a full load writes the rows that are gone by a statement of their own, which reads what
    the first has written in place of the input once more: where the state has so many rows that
    this saves more than the further statements cost, or the input may be another one by then.
    Arguments: entity, load (of _plan_load()). -#}
{%- macro _deletes_separately(entity, load) -%}
    {{ return(
        load.load_type == 'full' and not entity.events and load.base is not none and not load.redefines
        and (load.prior_rows >= 2 * 10 ** 5 or spark_cdc._reads_whole_table(entity.source))
    ) }}
{%- endmacro -%}


{#- Keys that a full load with rejected rows leaves as they were, as SQL: they did come in, but with
    a row that can't be accepted, so they are neither unchanged nor deleted. The load has been
    written; this adds their prior rows to it as X. Where a rejected row has a key that can't be
    read, it may be that of any key that seems to be missing: then all rows that the load tagged D
    are held, too (and their partition D has to go).
    Arguments: run (entity, load, prior: relation of the ledger), unreadable (whether some rejected
    row has no key).
    Returns a query whose columns are the ledger's, in its order. -#}
{%- macro _retained_sql(run, unreadable) -%}
{%- set of_load = "load_id = '" ~ run.load.load_id ~ "' and operation in " -%}
with set_aside as (
    select key_hash
    from {{ run.prior }}
    where {{ of_load }}{{ "('R', 'D')" if unreadable else "('R')" }}
)

select
    {{ spark_cdc._prior_row(run, 'prior', 'X') | indent(4) }}
from (
    {{ spark_cdc._prior_of_sql(run, 'set_aside', spark_cdc._payload(run.entity) + ['eff_start_date']) | indent(4) }}
) as prior
left anti join (
    select key_hash
    from {{ run.prior }}
    where {{ of_load }}('I', 'U', 'N')
) as accepted
    on prior.key_hash = accepted.key_hash
{%- endmacro -%}


{#- Events that come too late to change anything: not newer than what was last applied to their key,
    or to the whole table.
    Arguments: run, events (of _event_summary()), event_count, truncated (position of the load's own
    last truncate, or none).
    Returns a dictionary: late, known (events that could be late, since their key is known),
    late_different (late ones of keys that the load leaves otherwise than their newest event says; 0
    where they are too few for the guard), and overtaken (keys of which a change may be newer than
    the row of a snapshot that they have). -#}
{%- macro _late_events(run, events, event_count, truncated) -%}
    {%- set guards = run.entity.guards -%}
    {%- set row = spark_cdc._query(spark_cdc._late_events_sql(run, events, event_count))[0] -%}
    {%- set late, known = row.late | int, row.known | int -%}
    {%- set is_many = known >= guards.min_rows and late > (guards.late_share or 0) * known -%}
    {%- set is_asked = guards.late_share is not none and (is_many or late and spark_cdc._reads_are_in_log(run.entity)) -%}
    {%- set found = spark_cdc._query(spark_cdc._late_events_separately_sql(run, events, event_count, truncated))[0] if is_asked else {} -%}
    {{ return({
        'late': late,
        'known': known,
        'late_different': found.late | int if is_asked and is_many else 0,
        'overtaken': found.overtaken | int if is_asked else 0,
    }) }}
{%- endmacro -%}


{%- macro _late_events_sql(run, events, event_count) -%}
{%- set truncated = run.load.applied.get('truncated') -%}
{%- set behind = ' or incoming.event_position <= ' ~ spark_cdc._position_literal(truncated) if truncated else '' -%}
select
    count_if(incoming.event_position <= prior.event_position{{ behind }}) as late,
    count_if(prior.key_hash is not null{{ behind }}) as known
from {{ events }} as incoming
left join (
    {{ spark_cdc._rows_before_sql(run, 'select key_hash from ' ~ events, event_count, ['key_hash', 'event_position']) | indent(4) }}
) as prior
    on incoming.key_hash = prior.key_hash
where incoming.cdc__note is null and incoming.event_op <> 'control'
{%- endmacro -%}


{#- Whether a change may be newer than a row of a snapshot that has a later place. PostgreSQL's
    first transaction after a snapshot names no commit before it, so its place is that of the
    change; if it began before the snapshot, that is below the snapshot's. -#}
{%- macro _may_follow_read(entity, change, read) -%}
{%- if spark_cdc._reads_are_in_log(entity) -%}
{%- set numbers = 3 + spark_cdc._order_parts(entity.events.tie_breaker) | length -%}
coalesce({# -#}
size({{ change }}) = {{ numbers }} and {{ change }}[0] = 1 and get({{ change }}, 1) = get({{ change }}, 2) {# -#}
and get({{ change }}, 1) < get({{ read }}, 1) and {# -#}
{{ read }}[0] = 1 and get({{ read }}, 2) = get({{ read }}, 1) - 1, false)
{%- else -%}
false
{%- endif -%}
{%- endmacro -%}


{#- Keys of which the load has a row of a snapshot without a place among the changes, as far as
    nobody can tell whether it is newer than what the load leaves of them: it says otherwise than
    the row before, and than each change of the load. It is older if what was applied has a later
    place than the number that the row has. A first load has the changes after its snapshot.
    Arguments: run, events, summary (of _event_summary()). -#}
{%- macro _doubtful_reads_sql(run, events, summary) -%}
{%- set entity, has_prior = run.entity, run.load.base is not none -%}
{%- set moves = spark_cdc._keys_move(entity, summary) -%}
{%- set truncated = spark_cdc._position_literal(summary.truncated) if has_prior and summary.truncated else 'cast(null as array<bigint>)' -%}
{%- set applied = 'greatest(prior.event_position, ' ~ truncated ~ ')' if has_prior else truncated -%}
{%- set in_log = spark_cdc._reads_are_in_log(entity) -%}
{%- set is_older -%}
get(reads.event_position, 1) > 0 and size(applied_position) = size(reads.event_position) {# -#}
and if(applied_position[0] > 0, slice(applied_position, 2, 99) >= slice(reads.event_position, 2, 99), applied_position > reads.event_position)
{%- endset -%}
with reads as (
    select
        key_hash,
        min(event_position) as first_position,
        max(event_position) as event_position,
        max_by(cdc__read_hash, event_position) as read_hash,
        count(distinct cdc__read_hash) > 1 as is_told_twice
    from (
        select
            key_hash,
            event_position,
            {{ spark_cdc._hash(entity.compared) | indent(12) }} as cdc__read_hash
        from {{ events }}
        where cdc__note is null and event_op = 'read' and key_hash is not null
    ) as sent
    group by key_hash
),

changes as (
    select
        key_hash,
        sort_array(collect_list(struct(event_position, change_hash))) as steps
    from (
        select
            key_hash,
            event_position,
            if(
                event_op = 'delete' or event_absent is not null or event_unavailable is not null, null,
                {{ spark_cdc._hash(entity.compared) | indent(16) }}
            ) as change_hash
        from {{ events }}
        where cdc__note is null and event_op not in ('read', 'control', 'truncate') and key_hash in (select key_hash from reads)
        {%- if moves %}

        union all

        select
            old_key_hash as key_hash,
            event_position,
            cast(null as binary) as change_hash
        from {{ events }}
        where cdc__note is null and old_key_hash in (select key_hash from reads)
        {%- endif %}
    ) as sent
    group by key_hash
),

met as (
    select
        reads.*,
        changes.steps,
        {{ applied }} as applied_position,
        {{ 'prior.event_position' if has_prior else 'cast(null as array<bigint>)' }} as prior_position,
        {{ 'coalesce(prior.nonkey_hash = reads.read_hash and ' ~ spark_cdc._is_alive('prior', run.load.applied.get('truncated')) ~ ', false)'
            if has_prior else 'false' }} as is_known
    from reads
    left join changes
        on reads.key_hash = changes.key_hash
    {%- if has_prior %}
    left join (
        {{ spark_cdc._rows_before_sql(
            run, "select key_hash from " ~ events ~ " where event_op = 'read'", summary.event_count,
            ['key_hash', 'nonkey_hash', 'event_position', 'operation']) | indent(8) }}
    ) as prior
        on reads.key_hash = prior.key_hash
    {%- endif %}
)

select count(*) as doubtful
from (
    select
        *,
        coalesce({{ is_older }}, false) as is_older
        {%- if in_log %},
        {#- changes that were committed before the snapshot began: the last one counts #}
        filter(steps, step -> coalesce(
            get(step.event_position, 1) < get(reads.event_position, 1)
            and (
                get(step.event_position, 1) <> get(step.event_position, 2)
                or least(get(first_position, 1), get(prior_position, 1)) <= get(step.event_position, 1)
            ), false
        )) as steps_before
        {%- endif %}
    from met as reads
) as reads
where
    (
        event_position[0] = 0
        and not is_known
        and not is_older
        and not coalesce(exists(steps, step -> step.change_hash = read_hash), false)
        and (applied_position is not null or is_told_twice)
        and (coalesce(applied_position >= event_position, false) or steps is not null{{ ' and not coalesce(get(event_position, 1) > 0, false)' if in_log }})
    )
    {%- if in_log %}
    or (
        event_position[0] = 0
        and not is_older
        and coalesce(size(steps_before) > 0 and not try_element_at(steps_before, -1).change_hash <=> read_hash, false)
    )
    or coalesce(exists(
        steps, step -> not step.change_hash <=> read_hash
        and coalesce(step.event_position > applied_position, true)
        and get(step.event_position, 1) > {{ (run.load.applied.get('highest') or [0, 0])[1] }}L
        and {{ spark_cdc._may_follow_read(entity, 'step.event_position', 'reads.event_position') }}
    ), false)
    {%- endif %}
{%- endmacro -%}


{#- How many keys have a column whose value was not sent, and is not known either: no row of the key
    was there before, and none came earlier in the load. Null is stored then. What an update of a
    row lacks was in the row; of an upsert that may be new it is null, if nulls say nothing. A row
    that comes from another key is looked for there; what is the second half of a key change has the
    values of the old key.
    Arguments: run, events, summary (of _event_summary()). -#}
{%- macro _unfilled_sql(run, events, summary) -%}
{%- set entity, moves = run.entity, spark_cdc._keys_move(run.entity, summary) -%}
{%- set means_nothing = 'unchanged' in [entity.events.null_means] + entity.stored | map(attribute='null_means') | list -%}
{%- set lacks -%}
(event_unavailable is not null or event_absent is not null and event_op {{ "= 'update'" if means_nothing else "in ('update', 'upsert')" }})
{%- if summary.splits %}
    and not (event_op = 'insert' and bool_or(event_op = 'delete') over (partition by event_position, event_transaction))
{%- endif %}
{%- endset -%}
select count(distinct incoming.key_hash) as unfilled
from (
    select
        key_hash,
        event_position,
        cdc__lacks,
        lag(event_op) over (partition by key_hash order by event_position) as cdc__former_op
    from (
        {%- for old in [false, true] if moves or not old %}
        {{- '\n\n        union all\n' if old }}
        select
            {{ 'old_key_hash as key_hash' if old else 'key_hash' }},
            event_position,
            {{ "'delete' as event_op" if old else 'event_op' }},
            {{ lacks | indent(8) }}{{ ' and old_key_hash is null' if moves and not old }} as cdc__lacks
        from {{ events }}
        where
            {{ spark_cdc._counting_event(summary) | indent(12) }}
            {{- '\n            and old_key_hash is not null' if old }}
        {%- endfor %}
    ) as steps
) as incoming
{%- if run.load.base is not none %}
left join (
    {{ spark_cdc._rows_before_sql(
        run, spark_cdc._event_keys_sql(events, moves), summary.event_count, ['key_hash', 'event_position', 'operation']
    ) | indent(4) }}
) as prior
    on incoming.key_hash = prior.key_hash
{%- endif %}
where
    incoming.cdc__lacks
    and coalesce(incoming.cdc__former_op = 'delete', true)
    {%- if run.load.base is not none %}
    and coalesce(incoming.event_position > prior.event_position, true)
    and (incoming.cdc__former_op = 'delete' or not coalesce({{ spark_cdc._is_alive('prior', summary.truncated) }}, false))
    {%- endif %}
{%- endmacro -%}


{#- Whether an event says nothing of a column. -#}
{%- macro _is_missing(column) -%}
{%- set is_absent -%}array_contains(event_absent, {{ spark_cdc._literal(column.name) }}){%- endset -%}
{%- set is_unavailable -%}array_contains(event_unavailable, {{ spark_cdc._literal(column.name) }}){%- endset -%}
coalesce({{ is_absent }} or {{ is_unavailable }}, {{ is_absent }}, {{ is_unavailable }}, false)
{%- endmacro -%}


{#- Tagging of several dates at once, as SQL: what loads of these dates, one after the other, would
    write. A row of the source that stays as it is comes in once, with the dates on which it came as
    the bits of a number, so that what costs is what changes: a version begins where its row came
    but not on the date before, and its key is gone where none of its versions goes on. Of what
    begins and ends, each is compared with what was before it in its key (`lag`). Of a delta, in
    which a key that did not come stays as it was, each row that came counts.
    Arguments: run (as of _classify_rows_sql(); its load is that of the first date, the only one
    that may be a checkpoint), loads (the plans, one per date), incoming (relation or query with the
    columns of _stage_sql() and cdc__days: bit n stands for the n-th of the loads; bit 0, which
    none of them has, for the state before).
    Returns a query whose columns are the ledger's, in its order. -#}
{%- macro _classify_loads_sql(run, loads, incoming) -%}
{%- set entity, is_full = run.entity, run.load.load_type == 'full' -%}
{%- set payload, warns = spark_cdc._payload(entity), spark_cdc._rule_mask(entity.rules, ['warn']) > 0 -%}
{%- set is_of_intervals = run.history is defined and run.history.is_intervals -%}
{{ (spark_cdc._interval_steps_ctes if is_of_intervals else spark_cdc._load_steps_ctes)(run, loads, incoming) }},

compared as (
    select
        {{ payload | join(',\n        ') }},
        eff_start_date,
        cdc__note,
        {%- if warns %}
        if(cdc__is_gone, null, cdc__warned) as cdc__warned,
        {%- endif %}
        cdc__position,
        cdc__start_date,
        business_date,
        load_id,
        cdc__writes_unchanged,
        {%- if not is_full and entity.deleted_when %}
        lag(named_struct({% for column in payload %}'{{ loop.index }}', {{ column }}{{ ', ' if not loop.last }}{% endfor %})) over in_key as cdc__before,
        {%- endif %}
        {%- if entity.untracked %}
        not untracked_hash <=> lag(untracked_hash) over in_key as cdc__untracked_differs,
        {%- endif %}
        case
            when cdc__note is not null then 'R'
            when cdc__is_prior and not cdc__is_gone then 'X'
            when cdc__is_gone and coalesce(not lag(cdc__is_gone) over in_key, false) then 'D'
            when cdc__is_gone then 'T'
            when coalesce(lag(cdc__is_gone) over in_key, true) then 'I'
            when nonkey_hash <> lag(nonkey_hash) over in_key then 'U'
            else 'N'
        end as operation
    from steps
    window in_key as (partition by key_hash, cdc__note is null order by cdc__position)
),

started as (
    select
        *,
        last_value(if(operation in ('I', 'U'), cdc__start_date, if(cdc__position = 0, eff_start_date, null)), true) over (
            partition by key_hash, cdc__note is null
            order by cdc__position
            rows between unbounded preceding and current row
        ) as cdc__kept_start_date
    from compared
)

{%- set is_mark -%}
operation = 'N' and not cdc__writes_unchanged{{ ' and not coalesce(cdc__untracked_differs, false)' if entity.untracked }}
{%- endset %}

select /*+ rebalance(load_id, operation) */
    {%- for column in payload %}
    {%- set value = 'if(' ~ is_mark ~ ', null, ' ~ column ~ ')' if warns and column != 'key_hash' else column %}
    {%- if not is_full and entity.deleted_when %}
    if(operation = 'D', cdc__before.`{{ loop.index }}`, {{ value }}) as {{ column }},
    {%- else %}
    {{ spark_cdc._aliased(value, column) }},
    {%- endif %}
    {%- endfor %}
    if(operation in ('N', 'X'), cdc__kept_start_date, cdc__start_date) as eff_start_date,
    {{ spark_cdc._rule_noted(entity) }},
    business_date,
    load_id,
    {{ "if(" ~ is_mark ~ ", 'W', operation) as operation" if warns else 'operation' }}
from started
where
    cdc__position > 0
    and (operation <> 'N' or cdc__writes_unchanged{{ ' or cdc__untracked_differs' if entity.untracked }}{{ ' or cdc__warned is not null' if warns }})
{%- endmacro -%}


{#- The first CTEs of _classify_loads_sql(), up to `steps`: for each key what begins or ends at
    which of the loads. -#}
{%- macro _load_steps_ctes(run, loads, incoming) -%}
{%- set entity, load = run.entity, run.load -%}
{%- set is_full = load.load_type == 'full' -%}
{%- set payload = spark_cdc._payload(entity) -%}
{%- set warns = spark_cdc._rule_mask(entity.rules, ['warn']) > 0 -%}
{%- set counts_each_day = 'cdc__note is null and cdc__warned is null' if warns else 'cdc__note is null' -%}
{%- set carries_over = load.is_checkpoint and not is_full and load.base -%}
with dates as (
    select *
    from
        values
        (0, 1L, cast(null as {{ entity.eff_type }}), cast(null as date), cast(null as string), false),
        {%- for one in loads %}
        ({{ loop.index }}, {{ 2 ** loop.index }}L, {{ spark_cdc._load_start({'entity': entity, 'load': one}) }}, date'{{ one.business_time[:10] }}', {# -#}
        '{{ one.load_id }}', {{ (not is_full or one.is_checkpoint) | string | lower }}){{ ',' if not loop.last }}
        {%- endfor %}
            as dates (cdc__position, cdc__day, cdc__start_date, business_date, load_id, cdc__writes_unchanged)
),

versions as (
    select
        {{ payload | join(',\n        ') }},
        cast(null as {{ entity.eff_type }}) as eff_start_date,
        cdc__note,
        {%- if warns %}
        cdc__warned,
        {%- endif %}
        {{ 'cdc__deleted' if entity.deleted_when else 'false' }} as cdc__deleted,
        cdc__days,
        false as cdc__is_prior
    from {{ spark_cdc._from(incoming) }}
    {%- if load.base %}

    union all

    select
        {{ payload | join(',\n        ') }},
        eff_start_date,
        cast(null as string) as cdc__note,
        {%- if warns %}
        cast(null as string) as cdc__warned,
        {%- endif %}
        false as cdc__deleted,
        1L as cdc__days,
        true as cdc__is_prior
    from (
        {{ spark_cdc._prior_sql(run) | indent(8) }}
    ) as prior
    {%- endif %}
),

spans as (
    select
        *,
        bit_or(cdc__days) over (partition by key_hash, cdc__note is null) as cdc__key_days
    from versions
),

marked as (
    select
        *,
        {%- if is_full %}
        if({{ counts_each_day }}, cdc__days & ~shiftleft(cdc__days, 1), cdc__days) as cdc__begins,
        if(cdc__note is null, shiftleft(cdc__days, 1) & ~cdc__key_days & {{ 2 ** (loads | length + 1) - 2 }}L, 0L) as cdc__ends
        {%- else %}
        cdc__days{{ ' | if(cdc__is_prior, 2L & ~cdc__key_days, 0L)' if carries_over }} as cdc__begins,
        0L as cdc__ends
        {%- endif %}
    from spans
),

steps as (
    select
        marked.*,
        dates.*,
        cdc__deleted or cdc__ends & cdc__day <> 0 as cdc__is_gone
    from marked
    inner join dates
        on (cdc__begins | cdc__ends) & cdc__day <> 0
)
{%- endmacro -%}


{#- The same of intervals (docs/import.md). Argument: incoming (as of _interval_steps_sql()). -#}
{%- macro _interval_steps_ctes(run, loads, incoming) -%}
{%- set entity, last = run.entity, loads | last -%}
with dates as (
    select *
    from
        values
        {%- for one in loads %}
        ({{ loop.index }}, {{ spark_cdc._load_start({'entity': entity, 'load': one}) }}, date'{{ one.business_time[:10] }}', '{{ one.load_id }}', true){{ ',' if not loop.last }}
        {%- endfor %}
            as dates (cdc__position, cdc__start_date, business_date, load_id, cdc__writes_unchanged)
),

steps as (
    select /*+ broadcast(dates) */
        stepped.*,
        dates.*,
        cast(null as {{ entity.eff_type }}) as eff_start_date,
        cdc__step.is_gone as cdc__is_gone,
        cdc__step.is_carried as cdc__is_prior
    from (
        {{ spark_cdc._interval_steps_sql(run.history, incoming, spark_cdc._load_start({'entity': entity, 'load': last}) if loads | length > 1) | indent(8) }}
    ) as stepped
    inner join dates
        on stepped.cdc__step.time = dates.cdc__start_date
)
{%- endmacro -%}


{#- What begins or ends with each interval: a row has, as cdc__step, the time and whether the key
    is gone then: where its interval ends and no other begins. An interval that begins and ends
    within one business time is none. Arguments: history, incoming (relation or query of staged
    intervals: cdc__from and cdc__to, as they are; cdc__start and cdc__stop, the business times;
    history.gone, a condition: whether they stand for a delete), carried (business time of the last
    load as SQL, into which all versions that are left are carried over; none: no load is a
    checkpoint). -#}
{%- macro _interval_steps_sql(history, incoming, carried=none) -%}
select
    *,
    explode(filter(array(
        named_struct('time', cdc__start, 'is_gone', false, 'is_carried', false, 'is_there', true),
        named_struct(
            'time', cdc__end, 'is_gone', true, 'is_carried', false,
            'is_there', cdc__note is null and cdc__end is not null and coalesce(cdc__next > cdc__end, true)
        )
        {%- if carried %},
        named_struct(
            'time', {{ carried }}, 'is_gone', false, 'is_carried', true,
            'is_there', cdc__note is null and cdc__end is null and cdc__start < {{ carried }}
        )
        {%- endif %}
    ), step -> step.is_there)) as cdc__step
from (
    select
        *,
        lead(cdc__start) over (partition by key_hash, cdc__note is null order by cdc__start) as cdc__next
    from (
        {{ spark_cdc._lasting_intervals_sql(history, incoming) | indent(8) }}
    ) as lasting
) as followed
{%- endmacro -%}


{#- Intervals that a load can see, and rows that are rejected: not those that stand for a delete or
    began and ended at one business time. -#}
{%- macro _lasting_intervals_sql(history, incoming) -%}
select *
from (
    {{ spark_cdc._ended_intervals_sql(history, incoming) | indent(4) }}
) as ended
where
    cdc__note is not null
    or (not {{ history.gone }} and coalesce(cdc__end > cdc__start, true))
{%- endmacro -%}


{#- Intervals with their ends, cdc__until and cdc__end: in a history that has none, each one ends
    when the next one of its key begins. -#}
{%- macro _ended_intervals_sql(history, incoming) -%}
select
    *,
    {{ 'cdc__to' if history.valid_to else 'lead(cdc__from) over (partition by key_hash order by cdc__from)' }} as cdc__until,
    {{ 'cdc__stop' if history.valid_to else 'lead(cdc__start) over (partition by key_hash order by cdc__from)' }} as cdc__end
from {{ spark_cdc._from(incoming) }}
{%- endmacro -%}
