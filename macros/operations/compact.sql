{#- Compacts the older loads of a ledger into two, so that manifest, partitions and files stay few,
    while no view changes: a history (kind h: all their I, U and D rows, each in the partition of
    its own business date) and, right after it, a checkpoint (kind hc: the whole state after the
    last of them, as X rows; of change events also the tombstones). Histories that earlier calls
    wrote are kept, so that old rows are not written again and again. The last load is never
    compacted. Without execute it only says what it would do.
        dbt run-operation spark_cdc.compact --args '{entities: [orders], older_than_days: 1,
        execute: true}'
    Arguments: entities (list of names, or one; none for all), older_than_days (counted back from
    the business date of the last load; 0 for all loads before the last), histories (whether
    earlier histories are merged into the new one), execute. Returns the number of loads that
    were compacted, or would be. -#}
{%- macro compact(entities=none, older_than_days=30, histories=false, execute=false) -%}
    {%- do spark_cdc._check_arguments('compact', {'entities': entities, 'older_than_days': older_than_days, 'histories': histories, 'execute': execute}) -%}
    {%- set total = namespace(loads=0) -%}
    {%- for ctx in spark_cdc._contexts('compact', entities) -%}
        {%- set total.loads = total.loads + spark_cdc._compact_entity(ctx, older_than_days, histories) -%}
    {%- endfor -%}
    {%- do log(
        'compact: ' ~ ('compacted ' if execute else 'would compact ') ~ spark_cdc._counted(total.loads, 'load')
        ~ ('' if execute or not total.loads else '. Nothing was written (execute: false)'),
        info=true
    ) -%}
    {{ return(total.loads) }}
{%- endmacro -%}


{#- Maintenance by policy: compacts the older half of the loads of entities that have as many loads
    since the last time as their policy says (`maintenance`, or the var spark_cdc_maintenance), see
    compact(), and drops what earlier calls superseded longer ago than the retention, see vacuum().
    No view changes, and branches are left alone. Where nothing is due it reads the manifest alone.
    Both have rows in cdc_loads. Without execute it only says what it would do.
        dbt run-operation spark_cdc.maintain --args '{execute: true}'
    Arguments: entities (list of names, or one; none for all), execute. Returns the number of loads
    that were compacted, or would be. -#}
{%- macro maintain(entities=none, execute=false) -%}
    {%- do spark_cdc._check_arguments('maintain', {'entities': entities, 'execute': execute}) -%}
    {%- set total = namespace(loads=0) -%}
    {%- for ctx in spark_cdc._contexts('maintain', entities) -%}
        {%- set policy = ctx.entity.maintenance -%}
        {%- set manifest = spark_cdc._cached_manifest(ctx.committed) or spark_cdc._read_manifest(ctx.committed) -%}
        {%- set compacted = spark_cdc._loads_with(manifest.loads, 'is_compacted') -%}
        {%- set since = manifest.loads[manifest.loads.index(compacted[-1]) + 1:] if compacted else manifest.loads -%}
        {%- if ctx.write.ledger == ctx.ledger and policy.compact_loads is not none and since | length >= policy.compact_loads -%}
            {%- set merges = compacted | length >= policy.compact_loads -%}
            {%- set compacted = spark_cdc._compact_entity(ctx, 0, merges, keep_loads=policy.compact_loads // 2) -%}
            {%- set total.loads = total.loads + compacted -%}
            {%- if compacted and policy.retention_hours is not none -%}
                {%- do spark_cdc._vacuum_entity(ctx, policy.retention_hours) -%}
            {%- endif -%}
        {%- elif flags.WHICH == 'run-operation' -%}
            {%- do log(ctx.entity.name ~ ': nothing is due, ' ~ spark_cdc._counted(since | length, 'load')
                ~ (' since the last compaction, which comes at ' ~ policy.compact_loads if policy.compact_loads is not none else ', and compact_loads is null'), info=true) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(total.loads) }}
{%- endmacro -%}


{#- Compacts the older loads of an entity: plan, write, audit, commit. Arguments: ctx;
    older_than_days, histories as of compact(), keep_loads as of _plan_compaction(). Returns the
    number of loads that were compacted, or would be. -#}
{%- macro _compact_entity(ctx, older_than_days, histories, keep_loads=1) -%}
    {%- set entity = ctx.entity -%}
    {%- set manifest = spark_cdc._read_manifest(ctx.committed) if spark_cdc._mode() == 'plan' else spark_cdc._current_timeline(ctx) -%}
    {%- set plan = spark_cdc._plan_compaction(manifest.loads, older_than_days, histories, keep_loads) -%}
    {%- if plan.compacted -%}
        {%- set records = spark_cdc._load_records(ctx.ledger, plan.compacted + plan.loads_after[:1]) -%}
        {#- Rows that were written under several definitions (docs/schema_change.md) don't go into
            one history, whose record could name only one of them: of the loads to be compacted
            those since the last change stay, which begin with a checkpoint. -#}
        {%- set definition = records.get(plan.compacted[-1], {}).get('definition') -%}
        {%- set first = namespace(at=0) -%}
        {%- for load_id in plan.compacted if records.get(load_id, {}).get('definition') != definition -%}
            {%- set first.at = plan.compacted.index(load_id) + 1 -%}
        {%- endfor -%}
        {%- set plan = spark_cdc._plan_compaction_of(plan.loads_before + plan.compacted[:first.at], plan.compacted[first.at:], plan.loads_after) -%}
    {%- endif -%}
    {%- if not plan.compacted -%}
        {%- do log(entity.name ~ ': nothing to compact in ' ~ spark_cdc._counted(manifest.loads | length, 'load')
            ~ spark_cdc._why_not_compacted(entity, manifest.loads, plan, older_than_days, histories, keep_loads), info=true) -%}
        {{ return(0) }}
    {%- elif manifest.definition and not (spark_cdc._has_columns_of(entity, manifest.definition)
            and spark_cdc._has_columns_of(entity, (manifest.entries | last).definition)) -%}
        {#- the new text of <entity>_committed will have the columns that the YAML declares -#}
        {%- set message -%}
{{ entity.name }}: the columns of stg_{{ entity.name }} are not those of the last load, {{ manifest.loads[-1] }}. Nothing was written. {# -#}
Load once with the new columns, then compact.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}

    {%- set figures = spark_cdc._compaction_figures(plan, manifest, spark_cdc._load_counts(ctx.ledger, plan.compacted, []).rows) -%}
    {%- set next = spark_cdc._timeline_compacted(
        manifest, plan.loads_before | length, manifest.loads | length - plan.loads_after | length,
        {'load_id': plan.history, 'written': figures.history_rows}, {'load_id': plan.checkpoint, 'written': figures.rows_after}) -%}
    {%- set text -%}
{{ entity.name }}: {{ 'would compact' if spark_cdc._mode() == 'plan' else 'compacts' }} {{ spark_cdc._counted(plan.compacted | length, 'load') }}, {# -#}
{{ plan.compacted[0] }} to {{ plan.compacted[-1] }}, of {{ manifest.loads | length }}; writes {{ figures.history_rows }} rows of history and {# -#}
{{ figures.rows_after }} of the state; the manifest has {{ next.loads | length }} loads and {# -#}
{{ spark_cdc._committed_sql(entity, ctx.public, next) | length }} characters instead of {{ manifest.loads | length }} and {# -#}
{{ spark_cdc._committed_sql(entity, ctx.public, manifest) | length }}
    {%- endset -%}
    {%- do log(text, info=true) -%}
    {%- if spark_cdc._mode() == 'plan' -%}{{ return(plan.compacted | length) }}{%- endif -%}

    {%- set compacted = manifest.entries | selectattr('load_id', 'in', plan.compacted) | list -%}
    {%- set commits = spark_cdc._commits(dict(manifest, entries=compacted), records) -%}
    {%- set history = spark_cdc._compaction_record(entity, plan, records, figures, false, commits) -%}
    {%- set checkpoint = spark_cdc._compaction_record(entity, plan, records, figures, true) -%}
    {#- of both ledgers, each from its own rows -#}
    {%- for name in ['ledger', 'public'] if ctx.entity.sensitive or name == 'ledger' -%}
        {%- do spark_cdc._write_compaction(ctx, name, plan, figures, history, checkpoint) -%}
    {%- endfor -%}
    {%- do spark_cdc._audit_compaction(ctx, plan, figures) -%}
    {%- do spark_cdc._ensure_load_log(ctx.load_log) -%}
    {%- set rows = [] -%}
    {%- for record in [history, checkpoint] -%}
        {%- do rows.append({'load': record, 'audit': spark_cdc._figures_of_load(
            record.load_id, figures.written[record.load_id], record.prior_rows, record)}) -%}
    {%- endfor -%}
    {%- set names = plan.history ~ ' and ' ~ plan.checkpoint -%}
    {%- do spark_cdc._transact(ctx, {
        'manifest': next, 'what': names, 'rows': rows,
        'say': entity.name ~ ': compacted into ' ~ names ~ '; vacuum drops the old partitions later',
    }) -%}
    {{ return(plan.compacted | length) }}
{%- endmacro -%}


{#- Why there is nothing to compact, and the command that compacts more, if there is one.
    Arguments: loads (of the manifest), plan (of _plan_compaction_of(), which compacts nothing), and
    those of _plan_compaction(). Returns the end of a sentence. -#}
{%- macro _why_not_compacted(entity, loads, plan, older_than_days, histories, keep_loads) -%}
    {%- set count = loads | length - plan.loads_before | length - plan.loads_after | length -%}
    {%- set younger = older_than_days > 0 and spark_cdc._plan_compaction(loads, 0, histories, keep_loads).compacted -%}
    {%- set merged = not histories and spark_cdc._plan_compaction(loads, older_than_days, true, keep_loads).compacted -%}
    {%- set command = '\n  spark-cdc compact --select ' ~ entity.name -%}
    {%- if not loads -%}{{ return(': no load is committed') }}{%- endif -%}
    {%- set due -%}
: it takes 3 loads before the last {{ 'one' if keep_loads == 1 else keep_loads }}
{%- if older_than_days > 0 %} and at least {{ spark_cdc._counted(older_than_days, 'day') }} older{% endif %}
{%- if plan.loads_before %}, without those that were compacted or have other columns{% endif %}; there {# -#}
{{ 'is 1' if count == 1 else 'are ' ~ count if count else 'is none' }}
    {%- endset -%}
    {%- if younger -%}
        {{ return(due ~ '. To compact younger ones:' ~ command ~ ' --older-than 0' ~ (' --histories' if histories)) }}
    {%- elif merged -%}
        {{ return(due ~ '. To merge what was compacted:' ~ command ~ ' --older-than ' ~ older_than_days ~ ' --histories') }}
    {%- endif -%}
    {{ return(due) }}
{%- endmacro -%}


{#- Writes what older loads are compacted into, from the rows of a ledger into the same. Argument:
    which (ledger or public, of the two tables). -#}
{%- macro _write_compaction(ctx, which, plan, figures, history, checkpoint) -%}
    {%- set entity, table = ctx.entity, ctx[which] -%}
    {%- set columns = [] -%}  {#- as they lie there, whatever they hold by now -#}
    {%- for column in adapter.get_columns_in_relation(table) -%}
        {%- do columns.append({'name': column.name, 'sql': spark_cdc._quote(column.name), 'data_type': column.dtype}) -%}
    {%- endfor -%}
    {%- set columns = spark_cdc._placed_columns(columns, {}) -%}
    {%- set order = spark_cdc._cluster_order(
        entity, spark_cdc._ledger_columns(entity, checkpoint.layout), table, plan.compacted, figures.history_rows + figures.rows_after) -%}
    {%- set compacted = spark_cdc._compacted_rows_sql(entity, table, plan, columns, history, checkpoint, is_ordered=order is not none) -%}
    {%- do spark_cdc._write_anew(ctx, which, [plan.history, plan.checkpoint], columns, [checkpoint], compacted, order, figures.history_rows + figures.rows_after) -%}
{%- endmacro -%}


{#- What is written: history_rows, rows_prior and rows_after (that existed before and after the
    compacted loads; the latter are written as the state), written (load id to operation to rows).
    Argument: rows (load id to operation to rows). -#}
{%- macro _compaction_figures(plan, manifest, rows) -%}
    {%- set sums, first = {}, plan.loads_before | length -%}
    {%- for operation in ['I', 'U', 'D'] -%}
        {%- do sums.update({operation: rows.values() | map(attribute=operation, default=0) | sum}) -%}
    {%- endfor -%}
    {%- set after = spark_cdc._timeline_cut(manifest, first + plan.compacted | length).rows -%}
    {{ return({
        'rows_prior': spark_cdc._timeline_cut(manifest, first).rows,
        'rows_after': after,
        'history_rows': sums.I + sums.U + sums.D,
        'written': {plan.history: sums, plan.checkpoint: {'X': after}},
    }) }}
{%- endmacro -%}


{#- What was written is counted before anybody sees it; how many tombstones the state has is not
    known before. -#}
{%- macro _audit_compaction(ctx, plan, figures) -%}
    {%- set names, wanted = [plan.history, plan.checkpoint], {} -%}
    {%- set counted = spark_cdc._load_counts(ctx.ledger, names, names, [spark_cdc._masked_ledger_differences_sql(ctx, names)]) -%}
    {%- for load_id, rows in figures.written.items() -%}
        {%- do wanted.update({load_id: dict(rows, L=1, T=(counted.rows.get(load_id) or {}).get('T', 0))}) -%}
    {%- endfor -%}
    {%- do spark_cdc._audit_anew(ctx, counted, wanted) -%}
{%- endmacro -%}


{#- The rows of both loads and the record of the history; few files for each partition, unless
    they are brought in an order anyway. -#}
{%- macro _compacted_rows_sql(entity, table, plan, columns, history, checkpoint, is_ordered=false) -%}
{%- set carried = columns | rejectattr('name', 'in', ['cdc__note', 'business_date', 'load_id', 'operation']) | map(attribute='sql') | list -%}
select{{ ' /*+ rebalance(business_date, load_id, operation) */' if not is_ordered }}
    {{ columns | map(attribute='sql') | join(',\n    ') }}
from (
    select
        {{ carried | join(',\n        ') }},
        cdc__note,
        business_date,
        {{ spark_cdc._literal(plan.history) }} as load_id,
        operation
    from {{ table }}
    where
        {{ spark_cdc._in_loads(plan.compacted) }}
        and operation in {{ spark_cdc._operations('changes') }}

    union all

    select
        {{ carried | join(',\n        ') }},
        cast(null as string) as cdc__note,
        {{ spark_cdc._partition(checkpoint) | indent(8) }},
        if(operation in ('D', 'T'), 'T', 'X') as operation
    from (
        {{ spark_cdc._state_sql(
            table, spark_cdc._in_loads([plan.base]), spark_cdc._in_loads(plan.log) if plan.log else none,
            carried + ['operation'], false, dead=entity.events is not none) | indent(8) }}
    ) as state

    union all

    select
        {% for column in columns if column.sql in carried -%}
        cast(null as {{ column.data_type }}) as {{ column.sql }},
        {% endfor -%}
        {{ spark_cdc._literal(tojson(history)) }} as cdc__note,
        {{ spark_cdc._partition(history) | indent(8) }},
        'L' as operation
) as compacted
{%- endmacro -%}


{#- The record of one of the two loads. compacted lists the loads that readers saw, also those
    that earlier histories stand for, and commits by which of them they came (see _commits());
    the checkpoint's stands_for is the last of them, which is the parent of the load that
    follows. Of change events applied is what had been applied before, as in each load's record;
    feeds is what each of them read of a change feed, for replays (its fields where they differ from
    those before), last_feed what the last one read. -#}
{%- macro _compaction_record(entity, plan, records, figures, is_checkpoint, commits=[]) -%}
    {%- set compacted, feeds, known = [], {}, namespace(fields={}) -%}
    {%- set events = {'event_count': 0, 'late': 0, 'controls': 0, 'unexpected': 0, 'unfilled': 0} -%}
    {%- for load_id in plan.compacted -%}
        {%- set record, kind = records[load_id], spark_cdc._load_kind(load_id) -%}
        {%- if kind.is_history or not kind.is_compacted -%}
            {%- do compacted.extend(record.compacted if kind.is_history else [load_id]) -%}
            {%- for one, feed in (record.get('feeds', {}) if kind.is_history else {load_id: record.feed} if record.get('feed') else {}).items() -%}
                {%- do feeds.update({one: dict(feed.items() | rejectattr(0, 'equalto', 'fields')) if feed.get('fields') == known.fields else feed}) -%}
                {%- set known.fields = feed.get('fields') or known.fields -%}
            {%- endfor -%}
            {%- for name in events if record.get('events') and not is_checkpoint -%}
                {%- do events.update({name: events[name] + (record.events.get(name) or 0)}) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set came = [] -%}
    {%- for commit in commits -%}{%- do came.append(dict(commit.items() | rejectattr(0, 'equalto', 'written_as'))) -%}{%- endfor -%}
    {%- set last = records[plan.compacted[-1]] -%}
    {%- set record = {
        'entity': entity.name,
        'load_id': plan.checkpoint if is_checkpoint else plan.history,
        'load_type': 'compact',
        'business_time': last.business_time,
        'is_checkpoint': is_checkpoint,
        'parent': plan.history if is_checkpoint else plan.parent,
        'base': none,
        'log': [],
        'prior_rows': figures.rows_after if is_checkpoint else figures.rows_prior,
        'replaced': [] if is_checkpoint else plan.compacted,
        'compacted': [] if is_checkpoint else compacted,
        'commits': came,
        'stands_for': compacted[-1],
        'definition': last.definition,
        'layout': last.get('layout') or {},
    } -%}
    {%- do record.update(spark_cdc._run_of_load()) -%}
    {%- if not entity.events -%}
        {{ return(record) }}
    {%- endif -%}
    {%- set before = records[plan.compacted[0]].get('applied') or {} -%}
    {%- set after = records[plan.loads_after[0]].get('applied') or {} -%}
    {{ return(dict(
        record,
        applied=after if is_checkpoint else before,
        events=dict(events, truncated=after.get('truncated'), highest=after.get('highest'), feed=after.get('feed'), origin=after.get('origin')),
        feeds={} if is_checkpoint else feeds,
        last_feed=last.get('feed') or last.get('last_feed') if is_checkpoint else none,
    )) }}
{%- endmacro -%}


{#- Which loads are compacted and what becomes of the list: a function of its arguments, which
    reads nothing. Arguments: loads (of the manifest), older_than_days, histories as of
    compact(), keep_loads (how many of the last are left as they are, at least 1). Returns a
    dictionary: compacted (loads that leave the manifest; none if there are not more than the two
    that would take their place), loads_before (earlier histories), loads_after, history and
    checkpoint (names of the new loads), base and log (of the state after the last compacted
    load), parent (load before the first compacted one, or none). -#}
{%- macro _plan_compaction(loads, older_than_days, histories, keep_loads=1) -%}
    {%- set compacted = [] -%}
    {%- set loads_before = [] -%}
    {%- set loads_after = [] -%}
    {%- for load_id in loads -%}
        {%- set age = (spark_cdc._load_time(loads[-1]).date() - spark_cdc._load_time(load_id).date()).days -%}
        {%- if loop.revindex <= keep_loads or age < older_than_days -%}
            {%- do loads_after.append(load_id) -%}
        {%- elif spark_cdc._load_kind(load_id).is_history and not histories -%}
            {%- do loads_before.append(load_id) -%}
        {%- else -%}
            {%- do compacted.append(load_id) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(spark_cdc._plan_compaction_of(loads_before, compacted, loads_after)) }}
{%- endmacro -%}


{%- macro _plan_compaction_of(loads_before, compacted, loads_after) -%}
    {%- set plan = {'loads_before': loads_before, 'loads_after': loads_after, 'parent': loads_before[-1] if loads_before else none} -%}
    {%- if compacted | length <= 2 -%}  {#- two loads would take their place -#}
        {{ return(dict(plan, compacted=[], base=none, log=[])) }}
    {%- endif -%}
    {%- set time = compacted[-1].split('-')[0] -%}
    {{ return(dict(
        plan,
        compacted=compacted,
        history=time ~ '-h-' ~ spark_cdc._run_id8(),
        checkpoint=time ~ '-hc-' ~ spark_cdc._run_id8(),
        **spark_cdc._state_loads(compacted)
    )) }}
{%- endmacro -%}
