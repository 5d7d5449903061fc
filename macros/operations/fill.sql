{#- Takes the values of a column that came later than the first load from input that is still there,
    for the dates before it: into the draft of a replay, which publish_replay() makes visible
    (docs/replay.md#fill-a-column). No other column changes, no row comes or goes, and none becomes
    U: a U that only the new column made becomes N where the row had that value before.
        dbt run-operation spark_cdc.fill_column --args '{entity: orders, column: discount, first:
        2024-01-01}'
    Arguments: entity (name), column (name, as it is declared or was added), first (date of the
    first load that is written anew), execute (whether it is done; else it is only said what it
    would do). Returns nothing. -#}
{%- macro fill_column(entity, column, first, execute=true) -%}
    {%- do spark_cdc._check_arguments('fill_column', {'entity': entity, 'column': column, 'first': first, 'execute': execute}) -%}
    {%- set ctx = spark_cdc._contexts('fill_column', [entity])[0] -%}
    {%- set timeline = spark_cdc._current_timeline(ctx) -%}
    {%- set plan = spark_cdc._plan_fill(ctx, timeline, column, first) -%}
    {%- do spark_cdc._set_for_staging() -%}
    {%- set rows = spark_cdc._filled_rows_sql(ctx, plan, spark_cdc._fill_values_sql(ctx, plan)) -%}
    {%- if spark_cdc._mode() == 'plan' -%}
        {%- do spark_cdc._say_filled(ctx, plan, '(\n' ~ rows ~ '\n)') -%}
        {{ return('') }}
    {%- endif -%}
    {%- do spark_cdc._write_anew(ctx, 'ledger', plan.names.values() | list, plan.columns, plan.records.values() | list, rows) -%}
    {%- do spark_cdc._audit_fill(ctx, plan) -%}
    {%- set text = spark_cdc._manifest_text(ctx, dict(plan.manifest, commit=spark_cdc._run_id8())) -%}
    {%- do spark_cdc._send(spark_cdc._replace_view_sql(ctx.replay, text, spark_cdc._read_draft(ctx).existed)) -%}
    {%- do spark_cdc._say_filled(ctx, plan, ctx.ledger) -%}
{%- endmacro -%}


{#- What is to be done. Returns a dictionary: column, at (the physical column), first and until (of
    the dates that are filled: business times; until is the load that brought the column), loads
    (that are written anew), names (of the new loads by the old ones), records (of the new loads by
    the old names), groups (of _definitions_since()), carries (whether rows that a load has only
    carried over get the value, too), columns (of the ledger), manifest (the draft). -#}
{%- macro _plan_fill(ctx, timeline, name, first) -%}
    {%- set entity, start = ctx.entity, spark_cdc._business_time(first) -%}
    {%- set found = entity.stored | selectattr('name', 'equalto', name) | list -%}
    {%- set place = spark_cdc._place(timeline.layout, {'name': name}) -%}
    {%- set records = spark_cdc._load_records(ctx.public, timeline.loads) -%}
    {%- set count = namespace(before=0) -%}
    {%- set places = spark_cdc._places_of(place) -%}
    {%- for load_id in timeline.loads -%}
        {%- set is_without = count.before == loop.index0 and not spark_cdc._wrote_place(records.get(load_id), places) -%}
        {%- set count.before = count.before + (1 if is_without else 0) -%}
    {%- endfor -%}
    {%- set brought = timeline.entries[count.before:] -%}
    {%- set problems = spark_cdc._fill_problems(ctx, timeline, name, first, count.before, records) -%}
    {%- do spark_cdc._stop('fill_column', problems, 'Nothing was written.', entity) -%}
    {%- set kept = spark_cdc._manifest_before(ctx, timeline, start) -%}
    {%- set entries, names, rewritten = timeline.entries[kept.loads | length:], {}, {} -%}
    {%- for entry in entries -%}
        {%- do names.update({entry.load_id: entry.load_id.rsplit('-', 1)[0] ~ '-' ~ spark_cdc._run_id8()}) -%}
    {%- endfor -%}
    {%- set filled = {name | lower: {'at': place.at, 'type': found[0].data_type}} -%}
    {#- loads before the column came know where it lies now: a load that brings it again, after
        an undo, finds it -#}
    {%- set of_draft, since = [], brought | map(attribute='load_id') | list -%}
    {%- for entry in entries -%}
        {%- set layout = entry.layout if entry.load_id in since
            else dict(entry.layout, filled=dict(entry.layout.get('filled') or {}, **filled)) -%}
        {%- do of_draft.append(dict(entry, load_id=names[entry.load_id], layout=layout, commit=none)) -%}
        {%- set record = fromjson(spark_cdc._with_new_names(tojson(records[entry.load_id]), names)) -%}
        {%- do rewritten.update({entry.load_id: dict(record, replaced=[entry.load_id], version=timeline.sequence + 1, layout=layout,
            message='a replay filled ' ~ name, **spark_cdc._run_of_load())}) -%}
    {%- endfor -%}
    {%- set columns = [] -%}
    {%- for column in adapter.get_columns_in_relation(ctx.ledger) -%}
        {%- do columns.append({'name': column.name, 'sql': spark_cdc._quote(column.name), 'data_type': column.dtype}) -%}
    {%- endfor -%}
    {{ return({
        'column': found[0], 'at': place.at, 'first': start, 'until': brought[0].load_id, 'loads': entries | map(attribute='load_id') | list,
        'names': names, 'records': rewritten, 'groups': spark_cdc._definitions_since(entity, records, since),
        'carries': spark_cdc._loads_with(brought | map(attribute='load_id') | list, 'is_full') == [],
        'columns': spark_cdc._placed_columns(columns, {}),
        'manifest': spark_cdc._timeline(dict(kept, replay={
            'from': spark_cdc._time_text(entity, start), 'source': 'landing (' ~ name ~ ' alone)', 'fill': name,
            'timeline': spark_cdc._draft_origin(timeline.loads),
        }), kept.entries + of_draft),
    }) }}
{%- endmacro -%}


{#- The physical columns that a place names: its own and those from before its type changed. -#}
{%- macro _places_of(place) -%}
    {{ return([place.at | lower] + (spark_cdc._places_of(place.was) if place.get('was') else [])) }}
{%- endmacro -%}


{#- Whether a load has written one of some physical columns. -#}
{%- macro _wrote_place(record, places) -%}
    {%- set found = [] -%}
    {%- for name in (record or {'definition': {}}).definition -%}
        {%- do found.append(spark_cdc._place(record.get('layout') or {}, {'name': name}).at | lower) -%}
    {%- endfor -%}
    {{ return(found | select('in', places) | list != []) }}
{%- endmacro -%}


{#- The loads since the column came, by their definitions: a list of dictionaries: loads, and hashes
    (by name, the columns that they are made of, with the places where all loads up to these have
    them). -#}
{%- macro _definitions_since(entity, records, loads) -%}
    {%- set groups = {} -%}
    {%- for load_id in loads -%}
        {%- set record = records[load_id] -%}
        {%- set layout, then = record.get('layout') or {}, spark_cdc._described_then(entity, record) -%}
        {%- set hashes = {} -%}
        {%- for hash, columns in {'nonkey_hash': then.compared, 'untracked_hash': then.untracked}.items() if columns -%}
            {%- set of_hash = [] -%}
            {%- for column in columns -%}
                {%- do of_hash.append(dict(column, sql=spark_cdc._place_sql(spark_cdc._place(layout, column)))) -%}
            {%- endfor -%}
            {%- do hashes.update({hash: of_hash}) -%}
        {%- endfor -%}
        {%- do groups.setdefault(tojson([record.definition, layout], sort_keys=true), {'hashes': hashes, 'loads': []}).loads.append(load_id) -%}
    {%- endfor -%}
    {{ return(groups.values() | list) }}
{%- endmacro -%}


{#- Why a column can't be filled, a list of texts. Arguments: before (how many loads lack it),
    records (of the loads). -#}
{%- macro _fill_problems(ctx, timeline, name, first, before, records) -%}
    {%- set entity, start = ctx.entity, spark_cdc._business_time(first) -%}
    {%- set known = entity.stored | rejectattr('role', 'equalto', 'key') | map(attribute='name') | list -%}
    {%- set entries, place = timeline.entries, spark_cdc._place(timeline.layout, {'name': name}) -%}
    {%- set last, moved = (entries | last | default({})).get('definition'), [] -%}
    {%- for entry in entries[before:] if not spark_cdc._wrote_place(records.get(entry.load_id), [place.at | lower]) -%}
        {%- do moved.append(entry.load_id) -%}
    {%- endfor -%}
    {%- set is_loaded = name in known and before < entries | length and spark_cdc._has_columns_of(entity, last) -%}
    {%- set came = spark_cdc._load_time_text(entity, entries[before].load_id) if is_loaded else none -%}
    {%- set replay = 'spark-cdc replay ' ~ entity.name ~ ' --from ' ~ spark_cdc._word(first | string) -%}
    {{ return(spark_cdc._failed_rules({
        'column': name, 'known': known | join(', '), 'name': entity.name, 'came': came, 'first': first, 'replay': replay,
        'last': spark_cdc._load_time_text(entity, entries[-1].load_id) if entries else none,
    }, [
        (start is none, "the first date is '%(first)s', which is no date; accepted is one such as 2024-01-31"),
        (not entries, 'nothing is committed yet: load the dates in order (spark-cdc load)'),
        (name not in known, "there is no column '%(column)s' to fill; accepted are %(known)s"),
        (entries and name in known and not is_loaded,
         "no load has brought '%(column)s', or stg_%(name)s has other columns than the last load: load a date first, which brings the change: "
         'spark-cdc load'),
        (ctx.write.ledger != ctx.ledger, 'this is a branch: fill it in production, and make the branch anew'),
        (entity.events is not none, 'its rows are made of change events, each of which is applied as a whole. Load them anew: %(replay)s'),
        (entity.keyless, 'its rows have no key by which a value of the input could be found. Load them anew: %(replay)s'),
        (entity.sensitive, 'it has sensitive columns, whose rows lie in two tables. Load them anew: %(replay)s'),
        (entity.load_type != entity.declared_load_type or spark_cdc._settings_of(ctx.node).get('sources'),
         'its loads are of several sources, of which a fill reads one. Load them anew: %(replay)s'),
        (not spark_cdc._is_plainly_staged(entity.name), 'stg_%(name)s is more than spark_cdc.stage(), which is all that a fill reads. Load them anew: %(replay)s'),
        (is_loaded and before == 0, "all loads have '%(column)s': there is nothing to fill"),
        (is_loaded and before > 0 and start and start >= spark_cdc._load_time(entries[before].load_id),
         "the loads from %(came)s on have '%(column)s': accepted are earlier dates"),
        (is_loaded and timeline.layout.get('rekeyed'), 'its key has changed since. Load it anew: %(replay)s'),
        (is_loaded and place.get('default'), "'%(column)s' has a default, which rows of earlier loads show. Load them anew: %(replay)s"),
        (is_loaded and moved, "'%(column)s' has had another type since %(came)s, when it came. Load it anew: %(replay)s"),
    ])) }}
{%- endmacro -%}


{#- The entity with nothing but its key and the column: what else the input has, or lacks, plays no
    part. Of CSV without a header columns are known by their place, so the others are skipped. -#}
{%- macro _fill_entity(entity, column) -%}
    {%- set is_placed = entity.source.facts.has_header and not spark_cdc._csv_has_header(entity) -%}
    {%- set columns, key_columns = [], entity.key_columns -%}
    {%- set filled = dict(column, role='compared', nullable=true) -%}
    {%- for one in entity.columns -%}
        {%- if one.name == column.name -%}{%- do columns.append(filled) -%}
        {%- elif one.role == 'key' -%}{%- do columns.append(one) -%}
        {%- elif is_placed -%}
            {%- set plain = {'format': none, 'encoding': none, 'century': none, 'numbers': none} -%}
            {%- do columns.append(dict(one, role='control', data_type='string', nullable=true, **plain)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(dict(
        entity, columns=columns, stored=columns | rejectattr('role', 'equalto', 'control') | list, compared=[filled], untracked=[],
        rules=[], quarantine=[], deleted_when=none, source=dict(entity.source, on_missing_column='null', on_unexpected_column='ignore'),
    )) }}
{%- endmacro -%}


{#- The values of the column in the input that is still there, as a query: key_hash, cdc__at (the
    business time), cdc__value. Dates of which nothing is there are left out; so are values that
    can't be accepted as the declared type, and both are said. -#}
{%- macro _fill_values_sql(ctx, plan) -%}
    {%- set entity, landing, times, parts = spark_cdc._fill_entity(ctx.entity, plan.column), spark_cdc._landing_source(ctx.entity), [], [] -%}
    {%- set since = plan.groups | map(attribute='loads') | sum(start=[]) -%}
    {%- for load_id in spark_cdc._loads_by_date(ctx, plan.loads | reject('in', since) | list) if spark_cdc._load_time(load_id) >= plan.first -%}
        {%- do times.append(spark_cdc._load_time(load_id)) -%}
    {%- endfor -%}
    {%- set landed, there = spark_cdc._backfill_landed(entity, times, true), [] -%}
    {%- set files = spark_cdc._input_files(entity, landed) if landed and spark_cdc._reads_files(entity) else none -%}
    {%- for time in landed -%}
        {%- if files is none or files[loop.index0].files -%}{%- do there.append(time) -%}
        {%- else -%}{%- do log(entity.name ~ ': nothing has landed of ' ~ spark_cdc._time_text(entity, time) ~ ': left out', info=true) -%}{%- endif -%}
    {%- endfor -%}
    {%- for some in there | batch(60) -%}
        {%- set days = spark_cdc._landed_days(entity, some) -%}
        {%- set of_views = dict(entity, name=entity.name ~ '_fill_' ~ loop.index) -%}
        {%- set staged = spark_cdc._stage_sql(entity, spark_cdc._landed_dates_sql(of_views, landing, days).sql, ['cdc__days']) -%}
        {%- set dates = [] -%}
        {%- for day in days -%}
            {%- do dates.append("named_struct('day', " ~ day.day ~ "L, 'at', " ~ spark_cdc._time_literal(entity, day.time) ~ ')') -%}
        {%- endfor -%}
        {%- set sql -%}
select
    key_hash,
    {{ plan.column.sql }} as cdc__value,
    cdc__note,
    explode(transform(filter(array(
        {{ dates | join(',\n        ') }}
    ), one -> (cdc__days & one.day) <> 0), one -> one.at)) as cdc__at
from (
    {{ staged | indent(4) }}
) as staged
        {%- endset -%}
        {%- do parts.append(sql) -%}
    {%- endfor -%}
    {%- if not parts -%}
        {%- do spark_cdc._stop('fill_column', ['nothing has landed of the dates before ' ~ spark_cdc._load_time_text(entity, plan.until)
            ~ ', so there are no values to take'], 'Nothing was written. Deliver the input again.', entity) -%}
    {%- endif -%}
    {%- set values = parts | join('\n\nunion all\n\n') -%}
    {%- set refused = spark_cdc._query('select count(*) as refused, any_value(cdc__note) as example\nfrom (\n' ~ values
        ~ '\n) as input\nwhere cdc__note is not null')[0] -%}
    {%- if refused.refused | int -%}
        {%- do log(entity.name ~ ': ' ~ spark_cdc._counted(refused.refused | int, 'row') ~ " of the input left out, which can't be accepted, such as "
            ~ fromjson(refused.example).reasons | join('; '), info=true) -%}
    {%- endif -%}
    {{ return('select\n    key_hash,\n    cdc__at,\n    any_value(cdc__value) as cdc__value\nfrom (\n' ~ values
        ~ '\n) as input\nwhere cdc__note is null\ngroup by key_hash, cdc__at') }}
{%- endmacro -%}


{#- The rows of the loads under their new names, with the column: a query with the ledger's columns.
    In each key rows and values are put in the order of time. A row that came in has the value of
    its own date, as far as its input is there; one that was carried over, or deleted, the last one
    before it. Hashes of loads before the column are what they were; the others are computed anew,
    each of its load's own definition, and a U whose row has the hash of the one before it is N.
    Argument: values (of _fill_values_sql()). -#}
{%- macro _filled_rows_sql(ctx, plan, values) -%}
{%- set entity, at, names = ctx.entity, spark_cdc._quote(plan.at), plan.columns | map(attribute='sql') | list -%}
{%- set hashes, same, again = [], [], {} -%}
{%- for group in plan.groups -%}
    {%- set number, in_group = loop.index, 'when cdc__is_known and ' ~ spark_cdc._in_loads(group.loads) ~ ' then ' -%}
    {%- for hash, columns in group.hashes.items() -%}
        {%- set name = 'cdc__' ~ hash ~ '_' ~ number -%}
        {%- do hashes.append({'name': name, 'columns': columns}) -%}
        {%- do again.setdefault(hash, []).append(in_group ~ name) -%}
        {%- do same.append(in_group ~ name ~ ' = lag(' ~ name ~ ') over in_key') if hash == 'nonkey_hash' -%}
    {%- endfor -%}
{%- endfor -%}
{%- set type = (plan.columns | selectattr('name', 'equalto', plan.at) | first).data_type -%}
{%- set told = {
    'operation': "if(cdc__is_same, 'N', operation)",
    'eff_start_date': "if(cdc__has_column and if(cdc__is_same, 'N', operation) in ('N', 'X'), cdc__start, eff_start_date)",
    'load_id': 'cdc__new_load_id',
} -%}
{%- for hash, cases in again.items() -%}{%- do told.update({hash: 'case ' ~ cases | join(' ') ~ ' else ' ~ hash ~ ' end'}) -%}{%- endfor -%}
with input as (
    {{ values | indent(4) }}
),

stored as (
    select
        {{ names | join(',\n        ') }},
        operation in {{ spark_cdc._operations('visible') }} as cdc__is_known,
        {{ spark_cdc._in_loads(plan.groups | map(attribute='loads') | sum(start=[])) }} as cdc__has_column,
        if(operation in {{ spark_cdc._operations('changes') }}, eff_start_date, {{ spark_cdc._load_time_sql(entity, 'load_id') }}) as cdc__at
    from {{ ctx.ledger }}
    where {{ spark_cdc._in_loads(plan.loads) }} and operation <> 'L'
),

steps as (
    select
        *,
        {# a row that came in has a value, too; the input's comes before the row that shows it -#}
        explode(case when operation in ('I', 'U', 'N') then array(1, 3) when operation = 'D' then array(0) else array(3) end) as cdc__step,
        cast(null as struct<value: {{ type }}>) as cdc__came
    from stored

    union all

    select
        {%- for column in plan.columns %}
        {{ 'key_hash' if column.name == 'key_hash' else 'cast(null as ' ~ column.data_type ~ ') as ' ~ column.sql }},
        {%- endfor %}
        true as cdc__is_known,
        false as cdc__has_column,
        cdc__at,
        2 as cdc__step,
        named_struct('value', cast(cdc__value as {{ type }})) as cdc__came
    from input
),

followed as (
    select
        *,
        last_value(if(cdc__step = 1, named_struct('value', {{ at }}), cdc__came), true) over (
            partition by key_hash, cdc__is_known
            order by cdc__at, cdc__step
            rows between unbounded preceding and current row
        ) as cdc__last
    from steps
),

filled as (
    select
        {%- for name in names %}
        {{ 'if(cdc__takes_value, cdc__last.value, ' ~ name ~ ') as ' ~ name if name == at else name }},
        {%- endfor %}
        cdc__is_known,
        cdc__has_column
    from (
        select
            *,
            cdc__is_known and cdc__last is not null and (
                not cdc__has_column
                or {{ "operation = 'D' and load_id = '" ~ plan.until ~ "'" if not plan.carries else "operation in ('D', 'X')" }}
            ) as cdc__takes_value
        from followed
        where cdc__step in (0, 3)
    ) as taken
),

hashed as (
    select
        *
        {%- for hash in hashes %},
        {{ spark_cdc._hash(hash.columns) | indent(8) }} as {{ hash.name }}
        {%- endfor %}
    from filled
),

compared as (
    select
        *,
        row_number() over in_key = 1 as cdc__is_first,
        operation = 'U' and coalesce({{ 'case ' ~ same | join(' ') ~ ' end' if same else 'false' }}, false) as cdc__is_same
    from hashed
    window in_key as (partition by key_hash, cdc__is_known order by load_id, eff_start_date)
),

started as (
    select
        *,
        last_value(if(cdc__is_first or operation = 'I' or (operation = 'U' and not cdc__is_same), eff_start_date, null), true) over (
            partition by key_hash, cdc__is_known
            order by load_id, eff_start_date
            rows between unbounded preceding and current row
        ) as cdc__start,
        case load_id{% for old, new in plan.names.items() %} when '{{ old }}' then '{{ new }}'{% endfor %} end as cdc__new_load_id
    from compared
)

select /*+ rebalance(business_date, load_id, operation) */
    {%- for column in plan.columns %}
    {{ spark_cdc._aliased(told.get(column.name, column.sql), column.sql) }}{{ ',' if not loop.last }}
    {%- endfor %}
from started
{%- endmacro -%}


{#- What was written is what was there, but for U that are N now: counted before anybody sees
    it. -#}
{%- macro _audit_fill(ctx, plan) -%}
    {%- set counted, wanted = spark_cdc._load_counts(ctx.ledger, plan.loads + plan.names.values() | list, plan.names.values() | list), {} -%}
    {%- for old, name in plan.names.items() -%}
        {%- set before, now = counted.rows.get(old, {}), counted.rows.get(name, {}).get('U', 0) -%}
        {%- do wanted.update({name: dict(before, U=now, N=before.get('U', 0) + before.get('N', 0) - now, L=1)}) -%}
    {%- endfor -%}
    {%- do spark_cdc._audit_anew(ctx, counted, wanted) -%}
{%- endmacro -%}


{#- Says how many rows have a value now, by load. Argument: rows (the ledger, or a query between
    brackets with its columns). -#}
{%- macro _say_filled(ctx, plan, rows) -%}
    {%- set entity, at, is_plan = ctx.entity, spark_cdc._quote(plan.at), spark_cdc._mode() == 'plan' -%}
    {%- set sql -%}
select
    load_id,
    count(*) as row_count,
    count({{ at }}) as value_count
from {{ rows }} as filled
where {{ spark_cdc._in_loads(plan.names.values() | list) }} and operation in {{ spark_cdc._operations('visible') }}
group by load_id
order by load_id
    {%- endset -%}
    {%- set lines = [entity.name ~ ': ' ~ ('would fill ' if is_plan else 'filled ') ~ plan.column.name ~ ' in the draft of a replay from '
        ~ spark_cdc._time_text(entity, plan.first)] -%}
    {%- for row in spark_cdc._query(sql) -%}
        {%- do lines.append('  ' ~ spark_cdc._load_time_text(entity, row.load_id) ~ '  ' ~ row.value_count ~ ' of '
            ~ spark_cdc._counted(row.row_count | int, 'row') ~ ' have a value') -%}
    {%- endfor -%}
    {%- do spark_cdc._say(lines | join('\n')) -%}
{%- endmacro -%}
