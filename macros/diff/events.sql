{#- Tagging of change events as SQL: the one row per key that _resolve_ctes() leaves, compared with
    the state before. Which becomes what: docs/operations.md, change events.

    A truncate deletes every key that nothing was applied to after it. Two different events at one
    place are rejected (R), and so are events with a note. Rules are judged on the row that a key
    ends with; one that is set aside leaves the key as it was.
    Arguments: run (entity, load, prior, broadcast: see _classify_rows_sql()), events (relation with
    the columns of _event_columns()), summary (of _event_summary()). Returns a query whose columns
    are the ledger's, in its order. -#}
{%- macro _classify_events_sql(run, events, summary) -%}
{%- set entity, load = run.entity, run.load -%}
{%- set start = spark_cdc._load_start(run) -%}
{%- set has_prior = load.base is not none -%}
{%- set missing = spark_cdc._missing_of(entity, summary) -%}
{%- set moves = spark_cdc._keys_move(entity, summary) -%}
{%- set gives_up = has_prior and (summary.deletes or moves) -%}
{%- set keeps = has_prior and (load.is_checkpoint or summary.truncates) -%}
{%- set source = 'named' if summary.alternates else events -%}
{%- set by_last = summary.get('by_last', false) -%}
{%- set rules = entity.rules -%}
{%- set sets_aside = spark_cdc._rule_is_broken(rules, ['drop', 'fail'], 'cdc__rules') -%}
{%- set of_keys = 'select key_hash from last where cdc__place is not null' if by_last else spark_cdc._event_keys_sql(source, moves) -%}
with
{% if summary.alternates %}
{{ spark_cdc._alternate_key_ctes(run, events) }},
{% endif %}
{%- if by_last %}
{{ spark_cdc._latest_only_ctes(entity, events) }},
{% endif %}
{%- if has_prior %}
prior as (
    {{ spark_cdc._rows_before_sql(
        run, of_keys, 0 if by_last else summary.event_count,
        spark_cdc._payload_hashes(entity) + ['eff_start_date', 'event_position', 'operation'] + missing | map(attribute='sql') | list
    ) | indent(4) }}
),
{% if gives_up %}
-- the payload of rows that may be deleted, which are few
given_up as (
    {{ spark_cdc._rows_before_sql(
        run, spark_cdc._event_keys_sql(source, moves, "event_op = 'delete' and "), summary.get('given_up'),
        ['key_hash'] + entity.stored | map(attribute='sql') | list) | indent(4) }}
),
{% endif %}
{%- endif %}
{{ spark_cdc._last_ctes_resolved(entity, events) if by_last else spark_cdc._resolve_ctes(entity, source, summary, 'prior' if has_prior else none) }},

matched as (
    select{{ ' /*+ broadcast(prior) */' if by_last and has_prior }}
        resolved.key_hash,
        resolved.event_position,
        resolved.cdc__is_alive,
        resolved.cdc__is_conflict,
        {% for column in entity.key_columns -%}
        resolved.{{ column.sql }},
        {% endfor -%}
        {%- for column in entity.stored if column.role != 'key' -%}
        {%- set filled = 'resolved.' ~ spark_cdc._quote('cdc__filled_' ~ column.name) -%}
        {%- if column not in missing -%}
        resolved.{{ column.sql }},
        {% elif not has_prior -%}
        {{ filled }}.value as {{ column.sql }},
        {% elif moves -%}
        if({{ filled }} is null, root.{{ column.sql }}, {{ filled }}.value) as {{ column.sql }},
        {% else -%}
        if({{ filled }} is null, {# -#}
        if({{ spark_cdc._is_alive('prior', summary.truncated) }}, prior.{{ column.sql }}, null), {{ filled }}.value) as {{ column.sql }},
        {% endif -%}
        {%- endfor %}
        {%- if gives_up -%}
        {%- for column in entity.stored -%}
        given_up.{{ column.sql }} as `cdc__prior_{{ column.sql.strip('`') }}`,
        {% endfor -%}
        {%- endif %}
        {%- if has_prior -%}
        prior.nonkey_hash as cdc__nonkey_hash_before,
        {%- if entity.untracked %}
        prior.untracked_hash as cdc__untracked_hash_before,
        {%- endif %}
        prior.eff_start_date as cdc__start_date_before,
        coalesce(prior.operation not in ('D', 'T'), false) as cdc__was_alive
        {%- else -%}
        false as cdc__was_alive
        {%- endif %}
    from resolved
    {%- if has_prior %}
    left join prior
        on resolved.key_hash = prior.key_hash
    {%- if missing and moves %}
    left join prior as root
        on resolved.cdc__root_key_hash = root.key_hash and {{ spark_cdc._is_alive('root', summary.truncated) }}
    {%- endif %}
    {%- if gives_up %}
    left join given_up
        on resolved.key_hash = given_up.key_hash and not resolved.cdc__is_alive
    {%- endif %}
    {%- if not (summary.late_possible or moves) %}
    where prior.event_position is null or resolved.event_position > prior.event_position
    {%- endif %}
    {%- endif %}
),

hashed as (
    select
        *,
        {{ spark_cdc._hash(entity.compared) | indent(8) }} as nonkey_hash
        {%- if entity.untracked %},
        {{ spark_cdc._hash(entity.untracked) | indent(8) }} as untracked_hash
        {%- endif %}
        {%- if rules %},
        {{ spark_cdc._rule_bits(rules, 'cdc__is_alive and not cdc__is_conflict') | indent(8) }} as cdc__rules
        {%- endif %}
    from matched
),

judged as (
    select
        *,
        case
            when cdc__is_conflict{{ ' or ' ~ sets_aside if sets_aside }} then 'R'
            when cdc__is_alive and not cdc__was_alive then 'I'
            {%- if has_prior %}
            when cdc__is_alive and nonkey_hash <> cdc__nonkey_hash_before then 'U'
            when cdc__is_alive then 'N'
            when cdc__was_alive then 'D'
            {%- endif %}
            else 'T'
        end as operation
    from hashed
),

tagged as (
    select
        {% for column in entity.stored -%}
        {%- if gives_up -%}
        if(operation = 'D', `cdc__prior_{{ column.sql.strip('`') }}`, {{ column.sql }}) as {{ column.sql }},
        {% else -%}
        {{ column.sql }},
        {% endif -%}
        {% endfor -%}
        key_hash,
        {{ "if(operation = 'D', cdc__nonkey_hash_before, nonkey_hash) as nonkey_hash" if has_prior else 'nonkey_hash' }},
        {%- if entity.untracked %}
        {{ "if(operation = 'D', cdc__untracked_hash_before, untracked_hash) as untracked_hash" if has_prior else 'untracked_hash' }},
        {%- endif %}
        {{ "if(operation = 'N', cdc__start_date_before, " ~ start ~ ')' if has_prior else start }} as eff_start_date,
        event_position,
        {{ spark_cdc._tagged_event_note(entity) | indent(8) }} as cdc__note,
        {{ spark_cdc._partition(load) | indent(8) }},
        operation
    from judged
)
{%- if keeps %},

{{ spark_cdc._untouched_cte(run, summary) }}
{%- endif %}
{%- if summary.rejected %},

rejected as (
    select
        {% for column in entity.stored -%}
        {{ column.sql }},
        {% endfor -%}
        key_hash,
        cast(null as binary) as nonkey_hash,
        {%- if entity.untracked %}
        cast(null as binary) as untracked_hash,
        {%- endif %}
        {{ start }} as eff_start_date,
        event_position,
        cdc__note,
        {{ spark_cdc._partition(load) | indent(8) }},
        'R' as operation
    from {{ events }}
    where cdc__note is not null
)
{%- endif %}

select * from tagged
{%- for name, wanted in [('untouched', keeps), ('rejected', summary.rejected)] if wanted %}
union all
select * from {{ name }}
{%- endfor %}
{%- endmacro -%}


{#- The note on the row that a key ends with: JSON where it is set aside, since another event stands
    at its place or a rule says so; the names of the rules that warn of it. -#}
{%- macro _tagged_event_note(entity) -%}
{%- set rules, bits = entity.rules, 'cdc__rules' -%}
case
    when cdc__is_conflict
        then to_json(named_struct(
            'kind', 'tied_events',
            'columns', cast(array() as array<string>),
            'reasons', array({{ spark_cdc._literal('another, different event of the same key has the same position: ' ~ spark_cdc._tie_advice(entity)) }}),
            'row', named_struct(
                {%- for column in entity.key_columns %}
                {{ spark_cdc._literal(column.name) }}, {{ column.sql }},
                {%- endfor %}
                'position', event_position
            )
        ))
    {%- if spark_cdc._rule_mask(rules, ['drop', 'fail']) %}
    when operation = 'R'
        then to_json(named_struct(
            'kind', if({{ spark_cdc._rule_is_broken(rules, ['fail'], bits) or 'false' }}, 'failed_rules', 'dropped_rows'),
            'columns', cast(array() as array<string>),
            'reasons', array_compact(array({{ spark_cdc._rule_texts(rules, bits, true) | join(', ') }})),
            'rules', {{ spark_cdc._texts_found(spark_cdc._rule_texts(rules, bits)) | indent(12) }},
            'row', named_struct(
                {%- for column in entity.stored %}
                {{ spark_cdc._literal(column.name) }}, {{ column.sql }}{{ ',' if not loop.last }}
                {%- endfor %}
            )
        ))
    {%- endif %}
    {%- if spark_cdc._rule_mask(rules, ['warn']) %}
    else {{ spark_cdc._rule_warnings(rules, bits) | indent(4) }}
    {%- endif %}
end
{%- endmacro -%}


{#- The keys that the events of a load name, as they are now and, where keys move, as they were. -#}
{%- macro _event_keys_sql(events, moves, condition='') -%}
select key_hash from {{ events }} where {{ condition }}key_hash is not null
{%- if moves %}
union all
select old_key_hash from {{ events }} where old_key_hash is not null
{%- endif %}
{%- endmacro -%}


{#- The steps of all events that may count: one for each (half 1), and one more for a key that is
    given up (half 0), made of the same row, so that events are read once. A truncate among archived
    events counts more than what else stands at its place (half 2), as in loads: its transaction
    ends with the word. Where keys move, a step says whether its row comes from another key
    (cdc__arrives), or else is inserted, and then whether the key may hold another row still
    (cdc__may_queue).
    Arguments: how (of _resolve_ctes()). -#}
{%- macro _event_steps_sql(how) -%}
{%- set moves, pairs = how.moves, how.moves and how.summary.deletes -%}
{%- set half = "if(endswith(incoming.event_transaction, ' truncate'), 2, 1)" if how.carried else 1 -%}
{%- set former_key = 'incoming.old_key_hash' if not pairs else
    'coalesce(incoming.old_key_hash, if(pair.first_key_hash = pair.last_key_hash, pair.first_key_hash, null))' -%}
{%- set place = 'event_position' -%}
{%- if spark_cdc._adapter_format(how.entity.events.format).orders_halves and not how.entity.events.tie_breaker -%}
    {%- set place = 'slice(event_position, 1, size(event_position) - 1)' -%}
{%- endif -%}
select
    {{ spark_cdc._of_step(moves, 'key_hash', 'incoming.old_key_hash') }},
    incoming.event_position,
    incoming.event_hash,
    {%- for name in how.carried %}
    {{ spark_cdc._of_step(moves and name == 'event_op', name, "'delete'") }},
    {%- endfor %}
    {{ 'cdc__half' if moves else half ~ ' as cdc__half' }},
    {{ 'cdc__half = 0 or ' if moves }}incoming.event_op = 'delete' as cdc__is_end,
    {%- if not moves %}
    incoming.event_op in ('insert', 'read') and incoming.event_unavailable is null as cdc__is_start,
    {%- else %}
    coalesce(
        cdc__half > 0 and incoming.event_op in ('insert', 'read') and incoming.event_unavailable is null
        or incoming.old_key_hash is not null and incoming.event_absent is null and incoming.event_unavailable is null,
        false
    ) as cdc__is_start,
    cdc__half > 0 and coalesce(
        incoming.old_key_hash is not null
        {%- if pairs %}
        or incoming.event_op = 'insert' and (incoming.event_unavailable is null or pair.first_key_hash = pair.last_key_hash)
        and pair.first_key_hash is not null
        {%- endif %}, false
    ) as cdc__arrives,
    incoming.event_op = 'insert' and incoming.event_unavailable is null and incoming.old_key_hash is null
    {{- ' and pair.first_key_hash is null' if pairs }} as cdc__is_inserted,
    {{ 'cdc__half > 0 and departed.first_key_hash is not null' if pairs else 'false' }} as cdc__may_queue,
    coalesce(incoming.event_transaction, to_json(incoming.event_position)) as cdc__transaction_id,
    if(cdc__half = 0, null, {{ former_key }}) as cdc__source_key_hash,
    {%- endif %}
    {%- for name in ['event_absent', 'event_unavailable'] if how.partial %}
    {{ spark_cdc._of_step(moves, name) }},
    {%- endfor %}
    {% for column in how.entity.stored -%}
    {{ spark_cdc._of_step(
        moves, column.sql, 'incoming.' ~ spark_cdc._quote('cdc__old_' ~ column.name) if column.role == 'key' else 'null') }}{{ ',
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
    from {{ how.deletes }}
    where cdc__note is null and event_op = 'delete'
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
        from {{ how.deletes }}
        where cdc__note is null and event_op in ('insert', 'delete') and event_transaction is not null
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
{%- if moves %}
    lateral view explode(if(incoming.old_key_hash is null, array({{ half }}), array(1, 0))) as cdc__half
{%- endif %}
where
    {{ spark_cdc._counting_event(how.summary, 'incoming.') | indent(4) }}
{%- endmacro -%}


{#- A column of a step; has_halves: `old` in the step of a key that is given up. -#}
{%- macro _of_step(has_halves, name, old='null') -%}
{{ 'if(cdc__half = 0, ' ~ old ~ ', incoming.' ~ name ~ ') as ' ~ name if has_halves else 'incoming.' ~ name }}
{%- endmacro -%}


{#- What the events of a load are like, told by a few narrow columns: how they are resolved depends
    on it.
    Arguments: run (entity, load, prior: where the rows before are), events (relation of this load's
    events).
    Returns a dictionary: event_count, controls, rejected, late, known and late_different (of
    _late_events()), unfilled (of _unfilled_sql()), reads, last (the highest position of the load),
    unexpected (events with columns that are not declared and ignored), given_up (events that may
    end the row of a key), and whether origin (where the events are from, with what is known of
    loads before: see _found_origins()), origins, and whether there are: deletes, partial (rows that
    lack columns: missing lists them), moves (keys that change, or are given up and taken within a
    transaction), key_changes (events that name another key than before), splits (inserts that may
    be the second half of a key change), alternates (rows named by another unique key),
    late_possible, by_last (whether the events are plain enough for _latest_only_ctes()), repeats
    (only where it is true: of _repeats_keys()); and
    truncated (highest position of a truncate, of this load or an earlier one) and highest (highest
    position of all), as lists of numbers. Where events is the view of _staged_events(), it is made
    again without their judgement as soon as it is known that none is rejected; where some are, only
    the counts are given. -#}
{%- macro _event_summary(run, events) -%}
    {%- set entity, applied = run.entity, run.load.applied -%}
    {%- set is_view = events == spark_cdc._read_again_view(entity) -%}
    {%- set has_place = is_view and spark_cdc._has_place(entity) -%}
    {%- set row = spark_cdc._query(spark_cdc._event_summary_sql(entity, events, has_place, applied.get('origin') or {})) | first -%}
    {%- set count = {} -%}
    {%- for name, value in row.items() if name not in ['lowest', 'highest', 'truncated'] and not name.startswith('source_') -%}
        {%- do count.update({name: (value or 0) | int}) -%}
    {%- endfor -%}
    {%- if is_view and count.rejected -%}
        {{ return(count) }}
    {%- elif is_view -%}
        {%- do spark_cdc._create_read_again_view(entity, run.load, is_accepted=true) -%}
    {%- endif -%}
    {%- set lowest = fromjson(row.lowest).get('p') -%}
    {%- set before = applied.get('highest') -%}
    {%- set missing = fromjson(spark_cdc._query(spark_cdc._missing_columns_sql(events))[0].missing) if count.lacking else [] -%}
    {%- set moves = count.moved > 0 or (
        count.transactions > 0 and count.deletes > 0 and count.inserts > 0
        and spark_cdc._query(spark_cdc._reused_keys_sql(events)) | length > 0
    ) -%}
    {%- set summary = {
        'event_count': count.event_count,
        'controls': count.controls,
        'rejected': count.rejected,
        'unexpected': count.unexpected,
        'deletes': count.deletes > 0,
        'given_up': count.deletes + count.moved + count.alternates,
        'partial': missing | length > 0,
        'moves': moves,
        'key_changes': count.moved + count.alternates > 0,
        'splits': count.splits > 0,
        'alternates': count.alternates > 0,
        'late_possible': run.load.base is not none and (count.reads > 0 or (lowest and before and lowest <= before) or false),
        'truncates': count.truncates > 0,
        'truncated': ([none] + [applied.get('truncated'), fromjson(row.truncated).get('p')] | select | sort) | last,
        'highest': ([none] + [before, fromjson(row.highest).get('p')] | select | sort) | last,
        'missing': missing,
    } -%}
    {%- do summary.update(spark_cdc._event_origins(run, events, row)) -%}
    {%- set asks_late = summary.late_possible or applied.get('truncated') -%}
    {%- set is_plain = not (summary.partial or spark_cdc._keys_move(entity, summary)) -%}
    {#- the number of keys is an estimate, and their rows are narrow -#}
    {#- whether each event has a place of its own among those of its key, where a place is one
        number: of a sequence each is there once in the whole stream, which takes a bit per number
        to see, 64 of them to a word; where they are far apart or come again, by key -#}
    {%- set low, high = fromjson(row.lowest).get('p'), fromjson(row.highest).get('p') -%}
    {%- set is_dense = is_plain and has_place and low is not none and (high[1] - low[1]) // 64 <= count.event_count // 4 -%}
    {%- set one_each = is_plain and has_place and (
        is_dense and not spark_cdc._query(spark_cdc._any_group_sql(
            events, 'shiftright(cdc__place, 6)', 'count(*) <> bit_count(bit_or(shiftleft(1L, cast(cdc__place & 63L as int))))'))
        or not spark_cdc._query(spark_cdc._shared_places_sql(entity, events))) -%}
    {%- set unfilled = spark_cdc._query(spark_cdc._unfilled_sql(run, events, summary))[0].unfilled | int if count.partial_rows else 0 -%}
    {%- set late = spark_cdc._late_events(run, events, count.event_count, fromjson(row.truncated).get('p')) if asks_late else {'late': 0} -%}
    {%- set unplaced = count.reads if spark_cdc._reads_are_in_log(entity) else count.unplaced -%}
    {#- a first load of nothing but a snapshot leaves no doubt -#}
    {%- set asks_reads = unplaced and entity.guards.late_share is not none and (run.load.base is not none or count.event_count > count.reads + count.controls) -%}
    {%- set doubtful = spark_cdc._query(spark_cdc._doubtful_reads_sql(run, events, summary))[0].doubtful | int if asks_reads else 0 -%}
    {%- set found = dict(
        dict(summary, unfilled=unfilled, reads=count.reads, doubtful_reads=doubtful, last=fromjson(row.highest).get('p'), **late),
        conflicts=not is_plain or not one_each and spark_cdc._query(spark_cdc._any_group_sql(
            events, 'xxhash64(key_hash, event_position)', 'min(event_hash) <> max(event_hash)', 'cdc__note is null and ')) | length > 0,
        by_last=one_each and not (asks_late or summary.truncates or count.reads or spark_cdc._is_short_stream(count.event_count))
            and spark_cdc._is_few(entity, count.key_count // 2),
    ) -%}
    {%- set repeats = spark_cdc._may_stage_last(entity) and spark_cdc._repeats_keys(entity, found, count.key_count) -%}
    {{ return(dict(found, repeats=true) if repeats else found) }}
{%- endmacro -%}


{#- Whether the last event of each key decides a load alone: each brings a whole row, and no other
    event has an effect. Argument: summary (of _event_summary()). -#}
{%- macro _only_last_counts(entity, summary) -%}
    {{ return(not (
        summary.rejected or summary.partial or spark_cdc._keys_move(entity, summary) or summary.key_changes or summary.late_possible
        or summary.truncated or summary.reads or summary.conflicts or summary.origins
    )) }}
{%- endmacro -%}


{#- Whether the next load should stage only the last message of a key: this one was plain, and has
    so many events per key that it would have paid. Arguments: summary (of all events of the load),
    key_count (how many keys they name). -#}
{%- macro _repeats_keys(entity, summary, key_count) -%}
    {{ return(summary.event_count >= 3 * key_count and not spark_cdc._is_short_stream(summary.event_count)
        and spark_cdc._only_last_counts(entity, summary)) }}
{%- endmacro -%}


{#- What the record of a load says of its events, of which some were superseded before they were
    staged. Arguments: summary (of the staged ones), superseded (number of the others). -#}
{%- macro _summary_of_all(entity, summary, superseded) -%}
    {%- set found = dict(summary, event_count=summary.event_count + superseded) -%}
    {{ return(dict(found, repeats=true) if spark_cdc._repeats_keys(entity, found, summary.event_count) else found) }}
{%- endmacro -%}


{#- Of which tables and logs the events of a load are (see _event_origin()), beside what is known of
    loads before. Arguments: run, events, row (of _event_summary_sql()). Returns a dictionary:
    origin (what is known from now on), origins (names and counts, where they are several). -#}
{%- macro _event_origins(run, events, row) -%}
    {%- set before = run.load.applied.get('origin') or {} -%}
    {%- set origin, origins = dict(before), {} -%}
    {%- for part in ['table', 'log'] if row.get('source_' ~ part ~ '_lowest') is not none -%}
        {%- set is_one = row['source_' ~ part ~ '_lowest'] == row['source_' ~ part ~ '_highest'] -%}
        {%- if not is_one or part not in before or row['source_' ~ part ~ '_other'] | int -%}
            {%- set found = {} -%}
            {%- for one in spark_cdc._query(spark_cdc._origin_names_sql(events, part)) -%}{%- do found.update({one.source_name: one.event_count | int}) -%}{%- endfor -%}
            {%- do origins.update({part: found}) if not is_one or part in before -%}
            {%- set new = found | reject('equalto', before.get(part)) | first -%}
            {%- do origin.update({part: '*' if part == 'table' and part in origins else new}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return({'origin': origin, 'origins': origins}) }}
{%- endmacro -%}


{%- macro _event_summary_sql(entity, events, has_place=false, origin={}) -%}
{%- set applies = "cdc__note is null and event_op <> 'control' and (event_op <> 'read' or event_position[0] > 0)" -%}
select
    count(*) as event_count,
    count(cdc__note) as rejected,
    count_if(cdc__note is null and event_op = 'control') as controls,
    count_if(cdc__note is null and event_op = 'truncate') as truncates,
    count_if(cdc__note is null and event_op = 'delete') as deletes,
    count_if(cdc__note is null and event_op = 'insert') as inserts,
    count_if(cdc__note is null and event_op = 'read') as reads,
    count_if(cdc__note is null and event_op = 'read' and event_position[0] = 0) as unplaced,
    count_if(cdc__note is null and (event_absent is not null or event_unavailable is not null)) as lacking,
    count_if(cdc__note is null and (event_unavailable is not null or event_absent is not null and event_op in ('update', 'upsert'))) as partial_rows,
    count_if(cdc__note is null and event_op = 'insert' and event_unavailable is not null) as splits,
    {{ 'count_if(cdc__note is null and old_key_hash is not null)' if entity.key_columns else '0' }} as moved,
    {{ 'count_if(cdc__note is null and old_alternate_hash is not null)' if entity.events.unique_keys else '0' }} as alternates,
    count_if(cdc__note is null and event_transaction is not null) as transactions,
    count(event_unexpected) as unexpected,
    {%- if entity.events.origin %}
    {#- whether they are of one table and log: numbers, since Spark sorts rows to compare texts -#}
    {%- for part in ['table', 'log'] %}
    {%- set name = 'event_origin.source_' ~ part %}
    min(if({{ name }} is null, null, xxhash64({{ name }}))) as source_{{ part }}_lowest,
    max(if({{ name }} is null, null, xxhash64({{ name }}))) as source_{{ part }}_highest,
    count_if({{ name ~ ' <> ' ~ spark_cdc._literal(origin[part]) if part in origin else 'false' }}) as source_{{ part }}_other,
    {%- endfor %}
    {%- endif %}
    {%- if has_place %}
    approx_count_distinct(xxhash64({{ entity.key_columns | map(attribute='sql') | join(', ') }})) as key_count,
    {%- elif spark_cdc._may_stage_last(entity) %}
    approx_count_distinct(key_hash) as key_count,
    {%- endif %}
    {#- as JSON; arrays are compared one by one by code that Spark does not compile -#}
    {%- for name, aggregate, condition in [('lowest', 'min', applies), ('highest', 'max', applies), ('truncated', 'max', "cdc__note is null and event_op = 'truncate'")] %}
    {%- set place = aggregate ~ '(if(' ~ condition ~ ', ' ~ ('cdc__place' if has_place else 'event_position') ~ ', null))' %}
    to_json(named_struct('p', {{ 'if(' ~ place ~ ' is null, null, array(1L, ' ~ place ~ '))' if has_place else place }})) as {{ name }}
    {{- ',' if not loop.last }}
    {%- endfor %}
from {{ events }}
{%- endmacro -%}


{#- The columns that rows lack. Asked apart from the counts, which Spark would not compile beside
    it. -#}
{%- macro _missing_columns_sql(events) -%}
select to_json(array_distinct(flatten(collect_set(concat(coalesce(event_absent, array()), coalesce(event_unavailable, array())))))) as missing
from {{ events }}
where cdc__note is null and (event_absent is not null or event_unavailable is not null)
{%- endmacro -%}


{#- A key that one transaction both takes and gives up: the order of its events alone does not tell
    whether it is still there. -#}
{%- macro _reused_keys_sql(events) -%}
select key_hash
from {{ events }}
where cdc__note is null and event_op in ('insert', 'delete') and event_transaction is not null
group by key_hash, event_transaction
having min(if(event_op = 'insert', event_position, null)) < max(if(event_op = 'delete', event_position, null))
limit 1
{%- endmacro -%}


{#- Whether two events, different ones or not, may stand at one place where that is one number: no
    event is hashed for it. -#}
{%- macro _shared_places_sql(entity, events) -%}
{{ spark_cdc._any_group_sql(events, 'xxhash64(' ~ entity.key_columns | map(attribute='sql') | join(', ') ~ ', cdc__place)', 'count(*) > 1') }}
{%- endmacro -%}


{#- A row if any group of the events that change a key fulfils a condition, else none. -#}
{%- macro _any_group_sql(events, group, having, condition='') -%}
select 1
from {{ events }}
where {{ condition }}event_op not in ('control', 'truncate')
group by {{ group }}
having {{ having }}
limit 1
{%- endmacro -%}


{#- A summary under which resolving leaves nothing out. -#}
{%- macro _any_events() -%}
    {{ return({
        'event_count': 0, 'controls': 0, 'rejected': 1, 'unexpected': 0, 'late': 0, 'known': 0, 'late_different': 0, 'unfilled': 0, 'reads': 0, 'last': none, 'deletes': true, 'partial': true,
        'moves': true, 'splits': true, 'alternates': false, 'late_possible': true, 'truncates': false, 'truncated': none,
        'highest': none, 'origin': {},
    }) }}
{%- endmacro -%}


{#- Which events may count at all, as a condition. -#}
{%- macro _counting_event(summary, qualifier='') -%}
{{ qualifier }}cdc__note is null
and {{ qualifier }}event_op not in ('control', 'truncate')
{%- if summary.truncated %}
and {{ qualifier }}event_position > {{ spark_cdc._position_literal(summary.truncated) }}
{%- endif %}
{%- endmacro -%}


{%- macro _origin_names_sql(events, part) -%}
select
    event_origin.source_{{ part }} as source_name,
    count(*) as event_count
from {{ events }}
where event_origin.source_{{ part }} is not null
group by source_name
order by event_count desc, source_name asc
limit 6
{%- endmacro -%}


{#- Whether the last row of a key stands for one that is there, also after a truncate. -#}
{%- macro _is_alive(qualifier, truncated) -%}
({{ qualifier }}.operation not in ('D', 'T') {#- #}
{%- if truncated %} and {{ qualifier }}.event_position > {{ spark_cdc._position_literal(truncated) }}{% endif %})
{%- endmacro -%}


{#- Whether the keys of so many rows, or events, are few enough to be broadcast. -#}
{%- macro _is_few(entity, rows) -%}{{ return((rows or 0) <= entity.checkpoint.rows) }}{%- endmacro -%}


{#- Whether a load has so few events that what costs is its statements, and not the rows. -#}
{%- macro _is_short_stream(event_count) -%}{{ return(event_count < 10 ** 5) }}{%- endmacro -%}


{#- Whether rows of a load may leave their keys, so that what is under a key is a queue. -#}
{%- macro _keys_move(entity, summary) -%}
    {{ return((summary.moves or summary.splits or summary.alternates) and entity.key_columns | length > 0) }}
{%- endmacro -%}


{#- An event that comes again is late, too, but what its key came to is in the state: the newest
    event of the key has the position that was applied last, says the same as the row, or is from
    before a truncate that comes again. -#}
{%- macro _late_events_separately_sql(run, events, event_count, truncated) -%}
{%- set before = run.load.applied.get('truncated') -%}
select
    coalesce(sum(newest.event_count), 0) as late,
    count_if({{ spark_cdc._may_follow_read(run.entity, 'newest.event_position', 'prior.event_position') }}) as overtaken
from (
    select
        key_hash,
        max(event_position) as event_position,
        max_by(event_op = 'delete', event_position) as is_delete,
        max_by(cdc__nonkey_hash, event_position) as nonkey_hash,
        count(*) as event_count
    from (
        select
            key_hash,
            event_position,
            event_op,
            if(
                event_absent is null and event_unavailable is null,
                {{ spark_cdc._hash(run.entity.compared) | indent(16) }},
                null
            ) as cdc__nonkey_hash
        from {{ events }}
        where
            cdc__note is null
            and event_op <> 'control'
            and key_hash is not null
            {%- if truncated %}
            and event_position > {{ spark_cdc._position_literal(truncated) }}
            {%- endif %}
    ) as incoming
    group by key_hash
) as newest
left join (
    {{ spark_cdc._rows_before_sql(
        run, 'select key_hash from ' ~ events, event_count, ['key_hash', 'nonkey_hash', 'event_position', 'operation']
    ) | indent(4) }}
) as prior
    on newest.key_hash = prior.key_hash
where
    {{ '(newest.event_position < prior.event_position or newest.event_position <= %s)' | format(spark_cdc._position_literal(before)) if before
        else 'newest.event_position < prior.event_position' }}
    and if(
        coalesce(prior.operation in ('D', 'T'), true),
        not newest.is_delete,
        newest.is_delete or not newest.nonkey_hash <=> prior.nonkey_hash
    )
{%- endmacro -%}


{#- Rows of the state that no event of the load was applied to, as far as the load writes them: at a
    checkpoint all carry over (X), and so do tombstones, as long as tombstone_days says (T); those
    that are older than a truncate are deleted (D). What is not newer than the row changed nothing,
    so the steps can be asked, and not what is left of them after they met the prior rows. -#}
{%- macro _untouched_cte(run, summary) -%}
{%- set entity, load = run.entity, run.load -%}
{%- set truncated = spark_cdc._position_literal(summary.truncated) if summary.truncated else none -%}
untouched as (
    select
        {{ spark_cdc._payload(entity) | join(',\n        ') }},
        {{ "if(cdc__fate = 'D', " ~ spark_cdc._load_start(run) ~ ', eff_start_date) as eff_start_date' if summary.truncates else 'eff_start_date' }},
        {{ "if(cdc__fate = 'D', " ~ truncated ~ ', event_position) as event_position' if summary.truncates else 'event_position' }},
        cast(null as string) as cdc__note,
        {{ spark_cdc._partition(load) | indent(8) }},
        cdc__fate as operation
    from (
        select
            state.*,
            case
                {%- if load.is_checkpoint %}
                {%- if load.get('restarts') %}
                when state.operation in ('D', 'T') then null
                {%- else %}
                when state.operation in ('D', 'T')
                    then if(cast(state.eff_start_date as date) >= {# -#}
                    date_sub(date'{{ load.business_time[:10] }}', {{ entity.events.tombstone_days }}), 'T', null)
                {%- endif %}
                {%- endif %}
                {%- if summary.truncates %}
                when state.event_position is null or state.event_position <= {{ truncated }} then 'D'
                {%- endif %}
                {%- if load.is_checkpoint %}
                {{ 'when state.event_position > ' ~ truncated ~ ' then' if truncated else 'else' }} 'X'
                {%- endif %}
            end as cdc__fate
        from (
            {{ spark_cdc._prior_sql(run, ['event_position', 'operation'], dead=load.is_checkpoint) | indent(12) }}
        ) as state
        left anti join (
            select
                key_hash,
                max(event_position) as event_position
            from {{ 'last' if summary.get('by_last') else 'steps' }}
            {%- if spark_cdc._rule_mask(entity.rules, ['drop', 'fail']) %}
            -- a key whose row a rule sets aside is as it was
            where key_hash not in (select key_hash from judged where operation = 'R')
            {%- endif %}
            group by key_hash
        ) as touched
            on state.key_hash = touched.key_hash and coalesce(touched.event_position > state.event_position, true)
    ) as decided
    where cdc__fate is not null
)
{%- endmacro -%}
