{#- What the events of a load are like, told by a few narrow columns: how they are resolved depends on it.
    Arguments: run (entity, load, prior: where the rows before are), events (relation of this load's events).
    Returns a dictionary: event_count, controls, rejected, late, known and late_apart (of _late_events()), unfilled (of _unfilled_sql()), reads, last (the highest position of the load), unexpected
    (events with columns that are not declared and ignored), given_up (events that may end the row of a key), and whether
    origin (where the events are from, with what is known of loads before: see _found_origins()), origins, and whether
    there are: deletes, partial (rows that lack columns: missing lists them), moves (keys that change, or are given up and
    taken within a transaction), key_changes (events that name another key than before), splits (inserts that may be the second half of a key change), alternates (rows named by
    another unique key), late_possible, by_last (whether the events are plain enough for _last_ctes()); and truncated (highest position of a truncate, of this load or an earlier one) and
    highest (highest position of all), as lists of numbers. Where events is the view of _staged_events(), it is made anew without their judgement
    as soon as it is known that none is rejected; where some are, only the counts are told. -#}
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
        {%- do spark_cdc._create_read_again_view(entity, is_accepted=true) -%}
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
        'truncated': [applied.get('truncated'), fromjson(row.truncated).get('p')] | select | max | default(none),
        'highest': [before, fromjson(row.highest).get('p')] | select | max | default(none),
        'missing': missing,
    } -%}
    {%- do summary.update(spark_cdc._found_origins(run, events, row)) -%}
    {%- set asks_late = summary.late_possible or applied.get('truncated') -%}
    {%- set is_plain = not (summary.partial or spark_cdc._keys_move(entity, summary)) -%}
    {#- the number of keys is an estimate, and their rows are narrow -#}
    {%- set one_each = is_plain and has_place and spark_cdc._is_one_each(entity, events, row, count.event_count) -%}
    {%- set unfilled = spark_cdc._query(spark_cdc._unfilled_sql(run, events, summary))[0].unfilled | int if count.unavailable else 0 -%}
    {%- set late = spark_cdc._late_events(run, events, count.event_count, fromjson(row.truncated).get('p')) if asks_late else {'late': 0} -%}
    {{ return(dict(
        dict(summary, unfilled=unfilled, reads=count.reads, last=fromjson(row.highest).get('p'), **late),
        conflicts=not is_plain or not one_each and spark_cdc._query(spark_cdc._possible_conflicts_sql(events)) | length > 0,
        by_last=one_each and not (asks_late or summary.truncates or count.reads or spark_cdc._is_short_stream(count.event_count))
            and spark_cdc._is_few(entity, count.key_count // 2),
    )) }}
{%- endmacro -%}


{%- macro _event_summary_sql(entity, events, has_place=false, origin={}) -%}
{%- set applies = "note is null and event_op not in ('read', 'control')" -%}
select
    count(*) as event_count,
    count(note) as rejected,
    count_if(note is null and event_op = 'control') as controls,
    count_if(note is null and event_op = 'truncate') as truncates,
    count_if(note is null and event_op = 'delete') as deletes,
    count_if(note is null and event_op = 'insert') as inserts,
    count_if(note is null and event_op = 'read') as reads,
    count_if(note is null and (event_absent is not null or event_unavailable is not null)) as lacking,
    count_if(note is null and event_unavailable is not null) as unavailable,
    count_if(note is null and event_op = 'insert' and event_unavailable is not null) as splits,
    {{ 'count_if(note is null and old_key_hash is not null)' if entity.key_columns else '0' }} as moved,
    {{ 'count_if(note is null and old_alternate_hash is not null)' if entity.events.unique_keys else '0' }} as alternates,
    count_if(note is null and event_transaction is not null) as transactions,
    count(event_unexpected) as unexpected,
    {%- if entity.events.origin %}
    {{ spark_cdc._found_origins_figures(origin) | indent(4) }},
    {%- endif %}
    {%- if has_place %}
    approx_count_distinct({{ spark_cdc._place_hash(entity, []) }}) as key_count,
    {%- endif %}
    {{ spark_cdc._extreme_position('min', applies, has_place) }} as lowest,
    {{ spark_cdc._extreme_position('max', applies, has_place) }} as highest,
    {{ spark_cdc._extreme_position('max', "note is null and event_op = 'truncate'", has_place) }} as truncated
from {{ events }}
{%- endmacro -%}


{#- The lowest or highest position, as JSON. Arrays are compared one by one by code that Spark does not compile. -#}
{%- macro _extreme_position(aggregate, condition, has_place) -%}
{%- if has_place -%}
{%- set place = aggregate ~ '(if(' ~ condition ~ ', step__place, null))' -%}
to_json(named_struct('p', if({{ place }} is null, null, array(1L, {{ place }}))))
{%- else -%}
to_json(named_struct('p', {{ aggregate }}(if({{ condition }}, event_position, null))))
{%- endif -%}
{%- endmacro -%}


{#- The columns that rows lack. Asked apart from the counts, which Spark would not compile beside it. -#}
{%- macro _missing_columns_sql(events) -%}
select to_json(array_distinct(flatten(collect_set(concat(coalesce(event_absent, array()), coalesce(event_unavailable, array())))))) as missing
from {{ events }}
where note is null and (event_absent is not null or event_unavailable is not null)
{%- endmacro -%}


{#- A key that one transaction both takes and gives up: the order of its events alone does not tell whether it is
    still there. -#}
{%- macro _reused_keys_sql(events) -%}
select key_hash
from {{ events }}
where note is null and event_op in ('insert', 'delete') and event_transaction is not null
group by key_hash, event_transaction
having min(if(event_op = 'insert', event_position, null)) < max(if(event_op = 'delete', event_position, null))
limit 1
{%- endmacro -%}


{#- Whether each event has a place of its own among those of its key, where a place is one number. Numbers of a sequence are each there once in the whole
    stream, which takes a bit per number to see; only where they are far apart or come again are they counted by key. -#}
{%- macro _is_one_each(entity, events, row, event_count) -%}
    {%- set lowest, highest = fromjson(row.lowest).get('p'), fromjson(row.highest).get('p') -%}
    {%- set is_dense = lowest is not none and (highest[1] - lowest[1]) // 64 <= event_count // 4 -%}
    {{ return(
        is_dense and not spark_cdc._query(spark_cdc._repeated_places_sql(events))
        or not spark_cdc._query(spark_cdc._shared_places_sql(entity, events))
    ) }}
{%- endmacro -%}


{#- Whether a place occurs twice in the stream, 64 of them to a word. -#}
{%- macro _repeated_places_sql(events) -%}
select 1
from {{ events }}
where event_op not in ('control', 'truncate')
group by shiftright(step__place, 6)
having count(*) <> bit_count(bit_or(shiftleft(1L, cast(step__place & 63L as int))))
limit 1
{%- endmacro -%}


{#- Whether two events, different ones or not, may stand at one place where that is one number: no event is hashed for it. -#}
{%- macro _shared_places_sql(entity, events) -%}
select 1
from {{ events }}
where event_op not in ('control', 'truncate')
group by {{ spark_cdc._place_hash(entity, ['step__place']) }}
having count(*) > 1
limit 1
{%- endmacro -%}


{%- macro _place_hash(entity, more) -%}xxhash64({{ (entity.key_columns | map(attribute='sql') | list + more) | join(', ') }}){%- endmacro -%}


{#- Whether two different events may stand at one place: by a hash of the place, so that few bytes are shuffled. -#}
{%- macro _possible_conflicts_sql(events) -%}
select 1
from {{ events }}
where note is null and event_op not in ('control', 'truncate')
group by xxhash64(key_hash, event_position)
having min(event_hash) <> max(event_hash)
limit 1
{%- endmacro -%}
