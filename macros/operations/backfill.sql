{#- Loads many dates of one or several entities in a few statements, each entity in one commit:
    readers see all of its dates, or none. Every date is a load of its own, checked as if it were
    loaded by itself; where one is refused, nothing is committed. Dates that are committed already
    are left out.
        dbt run-operation spark_cdc.backfill --args '{entities: [orders], dates:
        2024-01-01..2024-12-31}'
    The views of a first load are not made here: dbt run --select
    tag:spark_cdc.orders,config.materialized:cdc_view does that.
    Arguments: entities (list of names, or one), dates (a date, a range FIRST..LAST of days, or
    a list of such), skip_missing (whether dates of which nothing has landed are left out),
    dates_per_statement (how many are staged and compared together, at most 60), execute (whether
    it is done; else the dates of the first statement are compared and checked, and it is said what
    they would come to). Returns nothing. -#}
{%- macro backfill(entities, dates, skip_missing=false, dates_per_statement=60, execute=true) -%}
    {%- do spark_cdc._check_arguments('backfill', {
        'entities': entities, 'skip_missing': skip_missing, 'dates_per_statement': dates_per_statement, 'execute': execute,
    }) -%}
    {%- set is_in_range = dates_per_statement is integer and 1 <= dates_per_statement <= 60 -%}
    {%- do spark_cdc._stop('backfill', [] if is_in_range else ["dates_per_statement is '" ~ dates_per_statement ~ "'; accepted are numbers from 1 to 60"], 'Nothing was written.') -%}
    {%- set times = spark_cdc._backfill_times(dates) -%}
    {%- set contexts = spark_cdc._contexts('backfill', entities) -%}
    {%- set problems = [] -%}
    {%- for ctx in contexts -%}{%- do problems.extend(spark_cdc._backfill_problems(ctx, times)) -%}{%- endfor -%}
    {%- if problems -%}
        {%- set message -%}
spark_cdc.backfill found {{ spark_cdc._counted(problems | length, 'problem') }} before anything was written:
  - {{ problems | join('\n  - ') }}
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- for ctx in contexts -%}{%- do spark_cdc._backfill_entity(ctx, times, skip_missing, dates_per_statement) -%}{%- endfor -%}
{%- endmacro -%}


{#- Audits the loads of some dates that are written but not yet visible, one after the other, as
    _audit_load() does: each on the figures of the one before. Arguments: run, loads (their
    plans), days, views (of _landed_dates_sql()), done (as of _backfill_dates()). Returns a
    dictionary: manifest, loads. -#}
{%- macro _audit_backfill(run, loads, days, views, done) -%}
    {%- set entity, ledger, first = run.entity, run.ledger, loads[0] -%}
    {%- set names = loads | map(attribute='load_id') | list -%}
    {#- what a backfill has written before it has counted, too -#}
    {%- set state = [] if done else ([first.base] if first.base else []) + first.log -%}
    {%- set counted = spark_cdc._load_counts(ledger, state + names, names, [
        spark_cdc._repeats_sql(run, names), spark_cdc._rule_counts_sql(entity, ledger, names),
        spark_cdc._masked_ledger_differences_sql(run, names),
    ]) -%}
    {%- set problem = spark_cdc._masked_ledger_problem(run, counted.also.get('masked', 0)) -%}
    {%- if problem -%}{%- do spark_cdc._refuse_load(entity, 'counts', problem, first) -%}{%- endif -%}
    {%- set inputs = spark_cdc._import_inputs(run, loads) if run.history is defined else spark_cdc._backfill_inputs(entity, days, views) -%}
    {%- set at = namespace(manifest=run.manifest, loads=[]) -%}
    {%- set recent = {} -%}
    {%- for one in done[-5:] -%}{%- do recent.update({one.load.load_id: one.audit.rows_in}) -%}{%- endfor -%}
    {%- for load in loads -%}
        {%- set record = counted.records.get(load.load_id) -%}
        {%- if not record -%}
            {%- do spark_cdc._refuse_load(entity, 'parent', entity.name ~ ': the ledger holds no whole load ' ~ load.load_id
                ~ ', which the backfill has written. Nothing was committed and readers see what they saw before. Run the same command again.', load) -%}
        {%- endif -%}
        {%- set of_load = dict(run, time=spark_cdc._load_time(load.load_id), manifest=at.manifest,
            load=dict(load, prior_rows=at.manifest.rows, prior_log_rows=at.manifest.log_rows)) -%}
        {%- set input = inputs[loop.index0] -%}
        {%- do spark_cdc._check_input(of_load, record, input) -%}
        {%- set written = dict(counted.rows.get(load.load_id, {})) -%}
        {%- set repeated = written.pop('repeated', counted.also.get('repeated', 0)) -%}
        {%- do written.pop('L', none) -%}
        {%- set counts = dict(dict.fromkeys('IUDNXRT', 0), **written) -%}
        {%- set known = {
            'counts': counts, 'rows_prior': at.manifest.rows, 'record': record, 'files': input.get('files') or record.get('files'),
            'lines': input.records, 'repeated': repeated, 'broken': counted.rules.get(load.load_id),
        } -%}
        {%- if loop.first and not done -%}
            {%- do spark_cdc._check_prior(of_load, spark_cdc._figures_of_state(counted.rows, load.base, load.log), known) -%}
        {%- endif -%}
        {%- if counts.R -%}
            {#- rejected rows stop a backfill, also where a load of the date alone would set them
                aside: what their keys were before is not known then -#}
            {%- do spark_cdc._check_rejects(of_load, known) -%}
            {%- set message -%}
{{ entity.name }}: {{ spark_cdc._counted(counts.R, 'row') }} of {{ load.business_time }} would be set aside (quarantine), which a backfill does not {# -#}
do. Nothing was committed and readers see what they saw before. Backfill the dates before it, load {{ load.business_time }} by itself (spark-cdc load {# -#}
'{{ load.business_time }}' --select {{ entity.name }}), then backfill the rest.
            {%- endset -%}
            {%- do spark_cdc._refuse_load(entity, 'quarantine', message, of_load.load, known) -%}
        {%- endif -%}
        {%- set audit = spark_cdc._audit_counted_load(of_load, known, recent) -%}
        {%- do recent.update({load.load_id: audit.rows_in}) -%}
        {%- set at.manifest = spark_cdc._next_manifest(of_load, audit) -%}
        {%- set at.loads = at.loads + [{'load': load, 'audit': audit}] -%}
    {%- endfor -%}
    {{ return({'manifest': at.manifest, 'loads': at.loads}) }}
{%- endmacro -%}


{#- What was read, as it lies there now: a list by load of files, lines, and records, how many rows
    came in, where a reader tells that does not cast. -#}
{%- macro _backfill_inputs(entity, days, views) -%}
    {%- set inputs = [] -%}
    {%- for some in ([days] if days[0].is_shared else days | batch(1)) -%}
        {%- set sql = spark_cdc._input_sql(entity, some | map(attribute='time') | list) -%}
        {%- set at = inputs | length -%}
        {%- for day in some -%}{%- do inputs.append({'files': {'files': 0, 'bytes': 0, 'digest': none}} if sql else {}) -%}{%- endfor -%}
        {%- for row in (spark_cdc._query(sql) if sql else []) -%}
            {%- do inputs[at + (row.load_id or 0) | int].update({row.operation: fromjson(row.note)}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set counts = {} -%}
    {%- if views and not inputs | selectattr('lines') | selectattr('lines.records', 'number') | list -%}
        {%- for row in spark_cdc._query('select cdc__day as day, count(*) as row_count\nfrom (\n'
                ~ spark_cdc._dated_rows_sql([], views) ~ '\n) as dated\ngroup by cdc__day') -%}
            {%- do counts.update({row.day | int: row.row_count | int}) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- for input in inputs -%}
        {%- set records = (input.get('lines') or {}).get('records') -%}
        {%- do input.update({'records': counts.get(days[loop.index0].day, 0) if records is none else records}) -%}
    {%- endfor -%}
    {{ return(inputs) }}
{%- endmacro -%}


{#- Writes and audits the loads of some dates, which one statement compares. Arguments: run
    (ctx with manifest, that they build on, and backfill: all dates, as the command names
    them), times, done (the loads that the backfill has written before: load and audit). Returns
    a dictionary: manifest (as it is after them), loads (a list of dictionaries: load, audit). -#}
{%- macro _backfill_dates(run, times, done) -%}
    {%- set entity = run.entity -%}
    {%- set landing, loads = spark_cdc._landing_source(entity), [] -%}
    {%- set plans = spark_cdc._backfill_plans(run, times) -%}
    {%- set days = spark_cdc._landed_days(entity, times, plans) -%}
    {%- for load in plans -%}
        {%- set files = days[loop.index0].files -%}
        {%- do loads.append(dict(load, files={'files': files.files, 'bytes': files.bytes, 'digest': files.digest} if files else none)) -%}
    {%- endfor -%}
    {%- if spark_cdc._mode() == 'plan' or entity.keyless -%}{%- do spark_cdc._set_for_staging() -%}{%- endif -%}
    {%- set landed = spark_cdc._landed_dates_sql(entity, landing, days) -%}
    {#- staging would take a key that came on several dates for one that came several times -#}
    {%- set staged = dict(entity, quarantine=entity.quarantine | reject('equalto', 'duplicate_keys') | list) -%}
    {%- set incoming = '(\n' ~ spark_cdc._stage_sql(staged, landed.sql, ['cdc__days']) ~ '\n)' -%}
    {{ return(spark_cdc._write_dates(run, loads, incoming, days, landed.views, done)) }}
{%- endmacro -%}


{#- Some dates that have landed, as _landed_dates_sql() takes them; is_shared says whether their
    files were looked for together. What can't be read is refused. Argument: loads (their plans;
    none where no load is made of them). -#}
{%- macro _landed_days(entity, times, loads=none) -%}
    {%- set landing, days, known = spark_cdc._landing_source(entity), [], {} -%}
    {%- set together = spark_cdc._input_files(entity, times) if times | length > 1 else none -%}
    {%- set signatures = spark_cdc._dates_signatures(entity, times, together) -%}
    {%- for time in times -%}
        {%- set signature = signatures[loop.index0] -%}
        {%- if signature is none or signature not in known -%}
            {#- a look at it is a look at all that are like it -#}
            {%- set files = spark_cdc._land_load(entity, landing, time, loads[loop.index0] if loads else {}) -%}
            {%- set has_rows = files is none or files.files -%}
            {%- set found = spark_cdc._found_as_read(entity, files, spark_cdc._folder_columns(entity, time, files)).found
                if has_rows and not entity.source.facts.has_names else [] -%}
            {#- one without any value in a column tells nothing of those of another date -#}
            {%- do known.update({signature: found} if not found | selectattr('is_null', 'defined') | list else {}) -%}
        {%- else -%}
            {%- set files, found = together[loop.index0] if together else none, known[signature] -%}
        {%- endif -%}
        {%- do days.append({'time': time, 'day': 2 ** loop.index, 'files': files, 'found': found, 'is_shared': together is not none}) -%}
    {%- endfor -%}
    {{ return(days) }}
{%- endmacro -%}


{#- The plans of loads of some dates, which build on each other. The first is a checkpoint if one is
    due; whether one is due after the others can only be told when they are written. -#}
{%- macro _backfill_plans(run, times) -%}
    {%- set entity = run.entity -%}
    {%- set secrets = spark_cdc._check_secret(run) -%}
    {%- set shared = dict(spark_cdc._run_of_load(), definition=spark_cdc._definition(entity), **({'secrets': secrets} if secrets else {})) -%}
    {%- set shared = dict(shared, imported=run.history.command) if run.history is defined else dict(shared, backfill=run.backfill) -%}
    {%- set plans = [dict(spark_cdc._plan_load(entity, run.manifest, times[0]), **shared)] -%}
    {%- for next in times[1:] -%}
        {%- set before = plans[-1] -%}
        {%- do plans.append(dict(
            before,
            load_id=spark_cdc._load_id(entity, next, false),
            business_time=spark_cdc._time_text(entity, next),
            is_checkpoint=false,
            keep=before.keep + [before.load_id],
            parent=before.load_id,
            base=before.load_id if before.is_checkpoint else before.base,
            log=[] if before.is_checkpoint else before.log + [before.load_id],
            prior_rows=none,
            prior_log_rows=none,
        )) -%}
    {%- endfor -%}
    {{ return(plans) }}
{%- endmacro -%}


{#- Compares, writes and audits the rows of some loads. Arguments: run, loads (their plans),
    incoming (as of _classify_loads_sql()), days, views and done as of _audit_backfill(). -#}
{%- macro _write_dates(run, loads, incoming, days, views, done) -%}
    {%- set entity, ledger, first = run.entity, run.ledger, loads[0] -%}
    {%- set compared = dict(run, load=first, prior=spark_cdc._laid_out(entity, ledger, first.layout),
        broadcast=spark_cdc._is_few(entity, run.manifest.log_rows)) -%}
    {%- set records = [] -%}
    {%- for load in loads -%}{%- do records.append(dict(load.items() | rejectattr(0, 'equalto', 'keep'))) -%}{%- endfor -%}
    {%- set sql = spark_cdc._classify_loads_sql(compared, loads, incoming) -%}
    {%- if spark_cdc._mode() == 'plan' -%}
        {%- set planned = spark_cdc._planned_ledger(run, spark_cdc._ledger_columns(entity, first.layout), records, sql) -%}
        {{ return(spark_cdc._audit_backfill(dict(run, ledger=planned), loads, days, views, done)) }}
    {%- endif -%}
    {%- set columns = spark_cdc._ensure_table(run, 'ledger', first) -%}
    {%- do spark_cdc._set_session(run.write.ledger) -%}
    {%- do spark_cdc._send(spark_cdc._write_loads_sql(run.write.ledger, columns, records, sql, spark_cdc._in_loads(loads | map(attribute='load_id') | list))) -%}
    {%- do spark_cdc._write_masked_ledger(run, loads | map(attribute='load_id') | list, first) -%}
    {{ return(spark_cdc._audit_backfill(run, loads, days, views, done)) }}
{%- endmacro -%}


{#- Backfills an entity: some dates at a time are landed, staged, compared and written by one
    statement, then audited date by date, each as if it were loaded by itself; all are committed at
    the end. The last date goes alone, so that where a checkpoint is due, readers have it. A dry run
    compares the dates of one statement, and writes none: the others build on what it would write.
    Arguments: ctx, times (datetimes, in order), skip_missing, dates_per_statement as of
    backfill(). -#}
{%- macro _backfill_entity(ctx, times, skip_missing, dates_per_statement) -%}
    {%- set entity = ctx.entity -%}
    {%- for schema in [ctx.schema, ctx.ledger.schema] | unique -%}
        {%- do spark_cdc._make_schema(schema) -%}
    {%- endfor -%}
    {%- do spark_cdc._ensure_load_log(ctx.load_log) -%}
    {%- set is_plan = spark_cdc._mode() == 'plan' -%}
    {%- set is_begun = not is_plan or spark_cdc._has_schema(ctx.schema) -%}
    {%- set timeline = spark_cdc._current_timeline(ctx) if is_begun else spark_cdc._empty_manifest() -%}
    {%- set todo = spark_cdc._backfill_todo(ctx, timeline, times) -%}
    {%- if todo | length < times | length -%}
        {%- do log(entity.name ~ ': ' ~ spark_cdc._counted(times | length - todo | length, 'date') ~ ' committed already and left out', info=true) -%}
    {%- endif -%}
    {%- set todo = spark_cdc._backfill_landed(entity, todo, skip_missing) -%}
    {%- if not todo -%}
        {%- do log(entity.name ~ ': nothing is left to load', info=true) -%}
        {{ return('') }}
    {%- endif -%}
    {%- set range_text = spark_cdc._time_text(entity, todo[0]) ~ ('..' ~ spark_cdc._time_text(entity, todo[-1]) if todo | length > 1) -%}
    {%- do spark_cdc._check_manifest_of(ctx, timeline, todo, 'Or backfill fewer dates, then compact, then the rest.') -%}
    {%- set batches = [todo[:dates_per_statement]] if is_plan else todo[:-1] | batch(dates_per_statement) | list + [todo[-1:]] -%}
    {%- do spark_cdc._load_dates(dict(ctx, backfill=range_text), timeline, batches, todo | length, range_text) -%}
{%- endmacro -%}


{#- Refuses loads of some times if their names are more than the manifest holds. Argument: advice (a
    sentence, the end of the message). -#}
{%- macro _check_manifest_of(ctx, timeline, times, advice) -%}
    {%- set entity = ctx.entity -%}
    {%- set planned = namespace(manifest=dict(timeline, commit=spark_cdc._run_id8())) -%}
    {%- for time in times -%}
        {%- set entry = {
            'load_id': spark_cdc._load_id(entity, time, true), 'rows': 10 ** 6, 'written': 10 ** 6,
            'definition': timeline.definition, 'layout': timeline.layout, 'added': timeline.added, 'applied': {},
        } -%}
        {%- set planned.manifest = spark_cdc._timeline_loaded(planned.manifest, planned.manifest.loads | length, entry) -%}
    {%- endfor -%}
    {%- set excess = spark_cdc._manifest_text_excess(entity, spark_cdc._committed_sql(entity, ctx.public, planned.manifest)) -%}
    {%- if excess -%}{%- do exceptions.raise_compiler_error(excess ~ ' ' ~ advice) -%}{%- endif -%}
{%- endmacro -%}


{#- Loads dates, batch by batch, and commits them together. Arguments: ctx (with backfill, or with
    history for an import), timeline (that they build on), batches (lists of times, each for one
    statement; in a dry run the first alone), count (of all dates), range_text (what is said of
    them). -#}
{%- macro _load_dates(ctx, timeline, batches, count, range_text) -%}
    {%- set entity, is_plan = ctx.entity, spark_cdc._mode() == 'plan' -%}
    {%- set at = namespace(manifest=timeline, done=[]) -%}
    {%- set write = spark_cdc._import_dates if ctx.history is defined else spark_cdc._backfill_dates -%}
    {%- for some in batches if some -%}
        {%- set written = write(dict(ctx, manifest=at.manifest), some, at.done) -%}
        {%- set at.manifest = written.manifest -%}
        {%- set at.done = at.done + written.loads -%}
        {%- do log(entity.name ~ ': ' ~ at.done | length ~ ' of ' ~ spark_cdc._counted(count, 'date') ~ ' written, up to '
            ~ spark_cdc._time_text(entity, some[-1]), info=true) if not is_plan -%}
    {%- endfor -%}

    {%- set sums = [] -%}
    {%- for operation in 'IUDNX' -%}
        {%- do sums.append(operation ~ ' ' ~ (at.done | map(attribute='audit.counts.' ~ operation) | sum)) -%}
    {%- endfor -%}
    {%- set say -%}
{{ entity.name }} {{ range_text }}: {{ spark_cdc._counted(count, 'date') }} {{ 'would be ' if is_plan }}committed, {# -#}
{{ at.done | map(attribute='audit.rows_in') | sum }} rows in, {{ sums | join(', ') }}; {{ at.manifest.rows }} rows {{ 'then' if is_plan else 'now' }}
{%- if at.done | length < count -%}
. Compared and checked were the first {{ spark_cdc._counted(at.done | length, 'date') }}, up to {{ at.done[-1].load.business_time }}: the figures are those of them. {# -#}
The later ones build on what these would write
{%- endif -%}
    {%- endset -%}
    {%- if is_plan -%}
        {%- do spark_cdc._say(say) -%}
    {%- else -%}
        {%- set what = ('the import of ' if ctx.history is defined else 'the backfill of ') ~ range_text -%}
        {%- do spark_cdc._commit_loads(dict(ctx, manifest=timeline), at.manifest, what, at.done, say) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Those of some times of which something has landed. Others are refused, all at once, unless
    they are to be left out, or the entity takes no files for an empty input. -#}
{%- macro _backfill_landed(entity, times, skip_missing) -%}
    {%- set incomplete, complete = spark_cdc._incomplete_times(entity, times), [] -%}
    {%- set message -%}
{{ entity.name }}: {{ spark_cdc._counted(incomplete | length, 'date') }} of {{ times | length }} {{ 'is' if incomplete | length == 1 else 'are' }} not complete, {# -#}
since the marker is not there (source.complete_when is {{ entity.source.complete_when }}): {{ spark_cdc._some_of(incomplete) }}
    {%- endset -%}
    {%- if incomplete and not skip_missing -%}
        {%- do exceptions.raise_compiler_error(message ~ '. Nothing was written. Wait for the source, or leave them out with --skip-missing (skip_missing: true).') -%}
    {%- elif incomplete -%}
        {%- do log(message ~ ': left out', info=true) -%}
    {%- endif -%}
    {%- for time in times if spark_cdc._time_text(entity, time) not in incomplete -%}{%- do complete.append(time) -%}{%- endfor -%}
    {%- set times = complete -%}
    {%- if entity.source.on_no_files == 'empty' and not skip_missing -%}{{ return(times) }}{%- endif -%}
    {%- set found, landing = [], spark_cdc._landing_source(entity) -%}
    {%- if spark_cdc._reads_whole_table(entity.source) -%}
        {%- set message -%}
{{ entity.name }}: source.date_column is not set, so that the source table has its present rows, and not those of {# -#}
{{ spark_cdc._counted(times | length, 'date') }}. Nothing was written. {# -#}
{{ 'Dates whose input was kept can be replayed (spark-cdc replay). ' if entity.archive_input }}Load one date:
  {{ spark_cdc._load_command(entity, spark_cdc._time_text(entity, spark_cdc._present_time(entity))) }}
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- if entity.source.facts.reads == 'table' and times -%}
        {%- set read = spark_cdc._date_column_found(entity, landing) -%}
        {%- set refusal = spark_cdc._check_date_column(read, landing) -%}
        {%- if refusal -%}{%- do exceptions.raise_compiler_error(refusal.message) -%}{%- endif -%}
        {%- set sql = spark_cdc._landed_times_of_table_sql(read, landing, times[0], spark_cdc._date_column_next(read, times[-1])) -%}
        {%- for row in spark_cdc._query(sql) -%}{%- do found.append(spark_cdc._business_time(row.found)) -%}{%- endfor -%}
    {%- else -%}
        {%- set files = spark_cdc._input_files(entity, times) if times | length > 1 else none -%}
        {%- for time in times -%}
            {%- do found.append(time) if files and files[loop.index0].files or spark_cdc._found_by_pattern(entity, [time]).is_there -%}
        {%- endfor -%}
    {%- endif -%}
    {%- set missing, texts = spark_cdc._times_beside(times, found), [] -%}
    {%- for time in missing -%}{%- do texts.append(spark_cdc._time_text(entity, time)) -%}{%- endfor -%}
    {%- if missing and not skip_missing -%}
        {%- set message -%}
{{ entity.name }}: nothing has landed of {{ spark_cdc._counted(missing | length, 'date') }} of {{ times | length }}: {{ spark_cdc._some_of(texts) }} ({# -#}
{{ spark_cdc._landing_input(entity, landing, missing[0]) }}). Nothing was written. Deliver them, correct source.path, or leave {# -#}
them out with --skip-missing (skip_missing: true).
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- elif missing -%}
        {%- do log(entity.name ~ ': nothing has landed of ' ~ spark_cdc._some_of(texts) ~ ': left out', info=true) -%}
    {%- endif -%}
    {{ return(spark_cdc._times_beside(times, missing)) }}
{%- endmacro -%}


{#- Why an entity can't be backfilled with some dates, as far as it can be told without a look at
    what landed. Returns a list of texts. -#}
{%- macro _backfill_problems(ctx, times) -%}
    {%- set entity = ctx.entity -%}
    {#- the schema is made by the first load -#}
    {%- set is_begun = spark_cdc._has_schema(ctx.schema) -%}
    {%- set timeline = spark_cdc._published(ctx) if is_begun else spark_cdc._empty_manifest() -%}
    {%- set todo = spark_cdc._backfill_todo(ctx, timeline, times) -%}
    {%- set last = spark_cdc._load_time(timeline.loads[-1]) if timeline.loads else none -%}
    {%- set past = [] -%}
    {%- for time in todo if last is not none and time < last -%}{%- do past.append(spark_cdc._time_text(entity, time)) -%}{%- endfor -%}
    {%- set fine = [] -%}
    {%- for time in times if entity.eff_type == 'date' and time.strftime('%H%M%S') != '000000' -%}{%- do fine.append(time | string) -%}{%- endfor -%}
    {%- set values = {
        'name': entity.name, 'past': spark_cdc._some_of(past),
        'first': past[0] if past else '', 'last': '' if last is none else spark_cdc._time_text(entity, last),
    } -%}
    {{ return(spark_cdc._failed_rules(dict(values, fine=fine[:1] | join), [
        (fine | length > 0,
         '%(name)s is loaded per date, but a time of day is given (%(fine)s). Give dates.'),
        (not spark_cdc._is_plainly_staged(entity.name),
         'stg_%(name)s is more than spark_cdc.stage(), which is all that a backfill reads. Load the dates one by one (spark-cdc load).'),
        (entity.events is not none,
         '%(name)s takes change events, of which one load takes as many files as there are: name all of them by a pattern in source.path and load '
         'the last date (spark-cdc load). Accepted are the load types full and delta.'),
        (entity.load_type != entity.declared_load_type,
         "%(name)s would be loaded with another load type than its own (spark_cdc_load_type), which a backfill does not do. Load these dates one by one "
         '(spark-cdc load DATE --select %(name)s --load-type TYPE).'),
        (past | length > 0,
         '%(name)s: %(past)s lie before the last load, %(last)s, and were never loaded. Accepted are later dates; to insert them, with all dates after: '
         'spark-cdc replay --from %(first)s --dates %(past)s --select %(name)s.'),
        (todo | length > 0 and timeline.loads and timeline.definition
            and (timeline.entries | last).definition != spark_cdc._fingerprint(spark_cdc._definition(entity)),
         '%(name)s: the columns of stg_%(name)s, or the secret of its sensitive columns, are not those of the last load. Load one date '
         'first, which brings the change (spark-cdc load), then the rest.'),
    ])) }}
{%- endmacro -%}


{#- The business times that backfill() is given, in order and once each. Argument: dates (a date,
    a range FIRST..LAST of days, or a list of such). -#}
{%- macro _backfill_times(dates) -%}
    {%- set times, wrong = [], [] -%}
    {%- for text in ([dates] if dates is string or dates is not iterable else dates) -%}
        {%- set ends = (text | string).split('..') -%}
        {%- set first, last = spark_cdc._business_time(ends[0]), spark_cdc._business_time(ends[-1]) -%}
        {%- if ends | length > 2 or first is none or last is none or last < first
                or (ends | length == 2 and (first.strftime('%H%M%S') ~ last.strftime('%H%M%S')) != '000000000000') -%}
            {%- do wrong.append(text | string) -%}
        {%- else -%}
            {%- for at in range((last - first).days + 1) -%}{%- do times.append(first + modules.datetime.timedelta(days=at)) -%}{%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do spark_cdc._stop('backfill', ['dates has ' ~ (wrong | join(', ') or 'nothing')] if wrong or not times else [], 'Accepted are dates that exist, such as 2024-01-31 or '
        ~ "'2024-01-31 10:15:00', and ranges of days whose first is not after the last, such as 2024-01-01..2024-12-31. Nothing was written.") -%}
    {{ return(spark_cdc._times_sorted(times)) }}
{%- endmacro -%}


{#- The times of which no load is committed. -#}
{%- macro _backfill_todo(ctx, manifest, times) -%}
    {%- set committed = [] -%}
    {%- for load_id in spark_cdc._loads_by_date(ctx, manifest.loads) -%}{%- do committed.append(spark_cdc._load_time(load_id)) -%}{%- endfor -%}
    {{ return(spark_cdc._times_beside(times, committed)) }}
{%- endmacro -%}
