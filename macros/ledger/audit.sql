{#- Audits a load that is written but not yet visible. Raises an error, with figures and examples,
    where rows were rejected, keys came twice, the counts don't reconcile, a guard trips or the load
    builds on a state that is no longer the last.
    Arguments: run (of _planned_run()). Returns a dictionary: what _figures_of_load() has,
    written (rows that it wrote which count, for later loads to overlay), rules (of
    _rule_counts_of_load()), ruled_out (how many rows rules set aside), recent (as it is given to
    _audit_counted_load()). -#}
{%- macro _audit_load(run) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- if spark_cdc._memo().get('small load of ' ~ entity.name) -%}{%- do spark_cdc._set_session(none, is_small=true) -%}{%- endif -%}
    {%- set counted = spark_cdc._counts_of_written(run) -%}
    {%- set record = counted.records.get(load.load_id) -%}
    {%- if not record -%}
        {#- what another run committed may have made a checkpoint due, or no longer, so that this
            attempt wrote under another name -#}
        {%- set name = spark_cdc._load_id(entity, spark_cdc._load_time(load.load_id), not load.is_checkpoint) -%}
        {%- set other = spark_cdc._load_records(run.ledger, [name]).get(name) -%}
        {%- if other or not spark_cdc._is_load_again(run, 'ledger') -%}{%- do spark_cdc._refuse_other_parent(run, other) -%}{%- endif -%}
        {%- do spark_cdc._load_skipped_ledger(run) -%}
        {%- set counted = spark_cdc._counts_of_written(run) -%}
        {%- set record = counted.records.get(load.load_id) -%}
    {%- endif -%}
    {%- if not record or record.parent != load.parent -%}{%- do spark_cdc._refuse_other_parent(run, record) -%}{%- endif -%}
    {%- do spark_cdc._check_input(run, record, counted.also) -%}
    {%- set counts = dict(dict.fromkeys('IUDNXRT', 0), **counted.rows.get(load.load_id, {})) -%}
    {%- do counts.pop('L', none) -%}
    {%- set prior = spark_cdc._figures_of_state(counted.rows, load.base, load.log) -%}
    {%- set known = {
        'counts': counts, 'rows_prior': prior.rows, 'record': record,
        'files': counted.also.get('files') or record.get('files'), 'lines': (counted.also.get('lines') or {}).get('records'),
        'repeated': counted.also.repeated | int, 'unchanged': record.get('unchanged'),
        'broken': counted.rules.get(load.load_id),
    } -%}
    {%- do spark_cdc._check_prior(run, prior, known) -%}
    {%- set problem = spark_cdc._masked_ledger_problem(run, counted.also.get('masked', 0)) -%}
    {%- if problem -%}{%- do spark_cdc._refuse_load(entity, 'counts', problem, load, known) -%}{%- endif -%}
    {%- if counts.R -%}
        {%- do spark_cdc._check_rejects(run, known) -%}
        {%- if spark_cdc._mode() != 'plan' -%}{%- do spark_cdc._note_unread_rejects(run, [load.load_id]) -%}{%- endif -%}
    {%- endif -%}
    {{ return(spark_cdc._audit_counted_load(run, known)) }}
{%- endmacro -%}


{#- What a load has written, counted by one statement (of _load_counts()), and beside it what lies
    in the landing now. -#}
{%- macro _counts_of_written(run) -%}
    {%- set load = run.load -%}
    {%- set loads = ([load.base] if load.base else []) + load.log + [load.load_id] -%}
    {{ return(spark_cdc._load_counts(run.ledger, loads, [load.load_id], [
        spark_cdc._repeats_sql(run, [load.load_id]), spark_cdc._input_sql(run.entity, [run.time]),
        spark_cdc._rule_counts_sql(run.entity, run.ledger, [load.load_id]),
        spark_cdc._masked_ledger_differences_sql(run, [load.load_id]),
    ])) }}
{%- endmacro -%}


{#- Refuses a load that is not there, or that builds on a load that is no longer the last.
    Arguments: run, record (of what was written; none). -#}
{%- macro _refuse_other_parent(run, record) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- set message -%}
{{ entity.name }}: {# -#}
{%- if record -%}
    {%- do spark_cdc._is_told(entity.name, 'raced') -%}
another run committed a load during this one, which builds on {{ record.parent or 'nothing' }}; the last load before {# -#}
{{ load.business_time }} is now {{ load.parent or 'none' }}
{%- else -%}
the ledger holds no whole load {{ load.load_id }}, as if {{ entity.name }}_ledger had not run
{%- endif -%}
. Nothing was committed. Load the date again:
  {{ spark_cdc._load_command(entity, load.business_time) }}
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, 'parent', message, load, {'record': record}) -%}
{%- endmacro -%}


{#- What both audits end with, that of a load and that of a backfill. Arguments: run (with the
    load), known (counts, rows_prior, record, files, lines, repeated, unchanged: how many rows the
    load marked as such, if it did; broken: rows by rule), recent (load id to rows in, of loads
    that cdc_loads does not have yet). Returns what _audit_load() returns. -#}
{%- macro _audit_counted_load(run, known, recent={}) -%}
    {%- set load, counts = run.load, known.counts -%}
    {#- one that came twice unchanged in a full load is not written, and shows in the counts -#}
    {%- if known.repeated -%}
        {%- set count = known.repeated -%}
        {%- set operations = spark_cdc._operations('supplied' if run.entity.events else 'received') -%}
        {%- set written = spark_cdc._from(spark_cdc._laid_out(run.entity, run.ledger, known.record.get('layout') or {}))
            ~ "\nwhere load_id = '" ~ load.load_id ~ "' and operation in " ~ operations -%}
        {%- set examples = spark_cdc._query(spark_cdc._repeated_keys_sql(run.entity, written, "and max(operation <> 'R')")) -%}
        {%- set what = '1000 or more keys come' if count == 1000 else '1 key comes' if count == 1 else count ~ ' keys come' -%}
        {%- do spark_cdc._refuse_duplicates(run, known, what, examples) -%}
    {%- endif -%}
    {%- do spark_cdc._check_counts(run, known) -%}
    {%- set figures = spark_cdc._figures_of_load(load.load_id, counts, known.rows_prior, known.record) -%}
    {%- set audit = dict(
        figures,
        rules=spark_cdc._rule_counts_of_load(run.entity, figures.counts, known.broken),
        ruled_out=(known.broken or {}).get('', 0),
        files=known.files,
        written=counts.I + counts.U + counts.D + counts.N + counts.X,
        recent=recent,
    ) -%}
    {%- do spark_cdc._check_guards(run.entity, run.ledger, load, audit) -%}
    {{ return(audit) }}
{%- endmacro -%}


{#- Audits a load, and whether the manifest with it is short enough. Returns a dictionary: audit
    (of _audit_load()), manifest (of _next_manifest()). -#}
{%- macro _audited_load(run) -%}
    {%- set audit = spark_cdc._audit_load(run) -%}
    {%- set manifest = spark_cdc._next_manifest(run, audit) -%}
    {%- set excess = spark_cdc._manifest_text_excess(run.entity, spark_cdc._committed_sql(run.entity, run.public, dict(manifest, commit=spark_cdc._run_id8()))) -%}
    {%- if excess -%}{%- do spark_cdc._refuse_load(run.entity, 'manifest_limit', excess, run.load, audit) -%}{%- endif -%}
    {{ return({'audit': audit, 'manifest': manifest}) }}
{%- endmacro -%}


{#- The counts must add up: in a full load the rows that came in and were not new, other or
    rejected are those that were there and neither changed nor went (nor are held, X, since a
    rejected row may be theirs); in a delta, or of events, no more rows can have been touched
    than were there. Where unchanged rows were marked while the load was written, or written, as
    many must be what is left of the state before. Keys that came twice without a change are not
    in the ledger, so the input is looked at again, only once the counts are wrong; else the
    input changed while it was read. -#}
{%- macro _check_counts(run, known) -%}
    {%- set entity, load, counts = run.entity, run.load, known.counts -%}
    {%- set written = counts.I + counts.U + counts.R -%}
    {%- set is_full = load.load_type == 'full' and not entity.events -%}
    {%- if is_full -%}
        {%- set unchanged = known.get('unchanged') -%}
        {%- set is_counted = known.lines is none and (load.is_checkpoint or unchanged is not none or known.files and not known.files.files) -%}
        {%- set rows_in = written + counts.N + (unchanged or 0) if is_counted else spark_cdc._count_input(entity, run.time) if known.lines is none else known.lines -%}
        {#- rows that a snapshot flags as deleted count as missing -#}
        {%- if entity.deleted_when and not is_counted -%}
            {%- do spark_cdc._land_load(entity, spark_cdc._landing_source(entity), run.time) -%}
            {%- set staged = '(\n' ~ spark_cdc._stage_sql(entity, spark_cdc._landed_view(entity)) ~ '\n) as staged' -%}
            {%- set rows_in = rows_in - spark_cdc._query('select count(*) as row_count from ' ~ staged ~ ' where cdc__note is null and cdc__deleted')[0].row_count | int -%}
        {%- endif -%}
        {%- set kept = known.rows_prior - counts.D - counts.U - counts.X -%}
        {%- if rows_in - written == kept and unchanged in [none, kept - counts.N] -%}{{ return('') }}{%- endif -%}
    {%- else -%}
        {%- set rows_in = spark_cdc._figures_of_events(load.load_id, known.record) if entity.events else written + counts.N + counts.D + counts['T'] -%}
        {%- set kept = known.rows_prior - counts.U - counts.N - counts.D -%}
        {#- a message of these formats, and of a user's own, may hold several events -#}
        {%- set is_counted = not entity.events or entity.events.get('snapshot') or entity.events.format in spark_cdc._event_formats() | reject('in', ['canal', 'wal2json']) -%}
        {%- set is_in = known.lines in [none, rows_in] or not is_counted -%}
        {%- if is_in and (kept == counts.X if load.is_checkpoint else kept >= 0) -%}{{ return('') }}{%- endif -%}
    {%- endif -%}
    {%- if (is_full or load.get('backfill')) and not entity.keyless -%}
        {#- a backfill writes rows that came twice alike once -#}
        {%- set landed = spark_cdc._landed_view(entity) -%}
        {%- if run.history is defined -%}
            {%- set landed = '(select * from ' ~ landed ~ ' where cdc__day = ' ~ 2 ** (run.history.batch.index(load.business_time) + 1) ~ 'L)' -%}
        {%- else -%}
            {%- do spark_cdc._land_load(entity, spark_cdc._landing_source(entity), run.time, load) -%}
        {%- endif -%}
        {%- set incoming = '(\n' ~ spark_cdc._stage_sql(entity, landed) ~ '\n) as incoming' -%}
        {%- set examples = spark_cdc._query(spark_cdc._repeated_keys_sql(entity, incoming)) -%}
        {%- if examples -%}
            {%- do spark_cdc._refuse_duplicates(run, known, 'keys come', examples) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set message -%}
{{ entity.name }}: the counts of {{ load.business_time }} do not reconcile: {{ rows_in }} rows in{# -#}
{{ ', ' ~ known.lines ~ ' records in the files' if known.lines not in [none, rows_in] }}, {{ known.rows_prior }} rows before; {# -#}
I {{ counts.I }}, U {{ counts.U }}, D {{ counts.D }}, rejected {{ counts.R }}
{%- if is_full -%}
, which leaves {{ rows_in - written }} unchanged rows in the load but {{ kept }} in the state before
{%- else -%}
, N {{ counts.N }}, X {{ counts.X }}
{%- endif -%}
. The input changed while it was read, or stg_{{ entity.name }} filters rows. Nothing was committed and readers see what they saw before. {# -#}
Run the same command again once the input is complete.
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, 'counts', message, load, dict(known, rows_in=rows_in)) -%}
{%- endmacro -%}


{#- Compares what a load that is written has read with the files as they lie there now, and with
    their lines. Raises an error where files came, went or changed meanwhile, and where Spark has
    read lines otherwise than they stand there.
    Arguments: run, record (of the load; of change events <entity>_events has compared the
    files), input (of _load_counts()). -#}
{%- macro _check_input(run, record, input) -%}
    {%- set known = {'record': record, 'files': input.get('files')} -%}
    {%- if known.files and record.get('files') -%}
        {%- do spark_cdc._check_unchanged(run.entity, run.load, record.files, known.files, known) -%}
    {%- endif -%}
    {%- set lines = dict(input.get('lines') or {}, **(input.get('ends') or {})) -%}
    {%- set advice = {
        'unfinished_file': 'a last line without a line end, as if the file was still being written, or was cut. Deliver it whole; where the source marks what '
            ~ 'is finished, as by _SUCCESS, name the marker in source.complete_when; where its files always end so, set guards.unfinished_file: null',
        'unclosed_quotes': "a quote that is not closed, so that what follows it would be taken for the value. Correct the file; values that go "
            ~ "over several lines take source.options.multiLine: true; where quotes are doubled, set source.options.escape: '\"'; where they are "
            ~ "part of plain values, quote: ''",
        'unescaped_quotes': "a quote within a quoted value that is not escaped, so that Spark would keep the value with all its quotes. Where quotes "
            ~ "are doubled, as Excel, PostgreSQL and pandas write them, set source.options.escape: '\"'; where they are part of plain values, quote: ''; "
            ~ 'else correct the file',
        'blank_rows': 'blanks alone in all fields, so that Spark would skip it as an empty line. Set source.options.multiLine: true, with which it does not; or '
            ~ 'correct the file',
        'malformed_text': 'bytes that are not UTF-8, so that each would become U+FFFD. Correct the file'
            ~ (', or name its encoding in source.options.encoding' if run.entity.source.facts.has_header),
        'damaged_json': 'neither one JSON array nor JSON objects one after the other, or more than 50 levels of brackets, as if it were cut off. '
            ~ 'Deliver the file again',
    } -%}
    {%- for guard, found, examples in [
        ('unfinished_file', lines.get('unfinished'), lines.get('unfinished_examples')),
        ('unclosed_quotes', lines.get('unclosed'), lines.get('unclosed_examples')),
        ('unescaped_quotes', lines.get('unescaped'), lines.get('unescaped_examples')),
        ('blank_rows', lines.get('blank'), lines.get('blank_examples')),
        ('malformed_text', lines.get('malformed'), lines.get('malformed_examples')),
        ('damaged_json', lines.get('damaged'), lines.get('damaged_examples')),
    ] if found and guard not in spark_cdc._skipped_guards(run.entity.name) -%}
        {%- set is_of_file = lines.get('damaged') is not none or guard == 'unfinished_file'
            or (guard == 'unclosed_quotes' and spark_cdc._csv_is_multi_line(run.entity)) -%}
        {%- set unit = 'file' if is_of_file else 'line' -%}
        {%- set message -%}
{{ run.entity.name }}: {{ spark_cdc._counted(found, unit) }} of {{ run.load.business_time }} {{ 'has' if found == 1 else 'have' }} {{ advice[guard] }}.
    - {{ spark_cdc._restricted_values_text() if run.entity.sensitive else examples[:5] | join('\n    - ') }}
Nothing was committed. Run the same command again then
{%- if lines.get('damaged') is none %}; to load it as Spark reads it:
  {{ spark_cdc._skip_command(run.entity, run.load, [guard]) }}
{%- else %}.{% endif %}
        {%- endset -%}
        {%- do spark_cdc._refuse_load(run.entity, guard, message, run.load, known) -%}
    {%- endfor -%}
{%- endmacro -%}


{#- Compares the rows that a load builds on, as footers count them, with what the loads before left
    behind, as the manifest says. Raises an error where somebody or something changed them: the load
    would build on the damage.
    Arguments: run, prior (of _figures_of_state()), known (figures of the load as far as they are
    known). -#}
{%- macro _check_prior(run, prior, known) -%}
    {%- set load, name = run.load, run.entity.name -%}
    {%- if load.base and (prior.rows, prior.log_rows) != (load.prior_rows, load.prior_log_rows) -%}
        {%- set message -%}
{{ name }}: the ledger differs from what the load {{ load.parent }} left: {{ load.prior_rows }} rows and {{ load.prior_log_rows }} since the {# -#}
checkpoint were recorded, {{ prior.rows }} and {{ prior.log_rows }} are counted in {{ ([load.base] + load.log) | join(', ') }}. {# -#}
Something other than a load changed files, partitions or {{ run.committed }}. Nothing was committed; readers see the damage. Find out what it is:
  spark-cdc verify {{ name }}
        {%- endset -%}
        {%- do spark_cdc._refuse_load(run.entity, 'damaged_ledger', message, load, known) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Refuses a load whose files came, went or changed while it read them. Arguments: entity, load,
    before and now (files, bytes, digest), known. -#}
{%- macro _check_unchanged(entity, load, before, now, known) -%}
    {%- if before.digest != now.digest -%}
        {%- set message -%}
{{ entity.name }}: the files of {{ load.business_time }} changed while they were read: {{ spark_cdc._counted(before.files, 'file') }} with {# -#}
{{ spark_cdc._counted(before.bytes, 'byte') }} before, {{ spark_cdc._counted(now.files, 'file') }} with {{ spark_cdc._counted(now.bytes, 'byte') }} now, {# -#}
or of another time. Nothing was committed and readers see what they saw before. Run the same command again once they are complete.
        {%- endset -%}
        {%- do spark_cdc._refuse_load(entity, 'input_changed', message, load, known) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Says what a load came to: to spark-cdc as data, to others in a line. Arguments: entity, load
    (of _plan_load()), audit (of _audit_load()), place (words about where it is; none where it is
    committed). -#}
{%- macro _tell_load(entity, load, audit, place='') -%}
    {%- set counts, events = audit.counts, audit.record.get('events') or {} -%}
    {%- set came -%}
I {{ counts.I }}, U {{ counts.U }}, D {{ counts.D }}, N {{ counts.N }}, X {{ counts.X }}
{%- if counts.R %}, rejected {{ counts.R }}{{ '' if place else ' (operation R in ' ~ load.entity ~ '_ledger)' }}{% endif -%}
{%- for name, label in [('late', 'late or repeated'), ('late_different', 'of these other than what was applied'), ('unfilled', 'with values that were never sent and are null'), ('controls', 'control'), ('unexpected', 'with columns that are ignored')]
        if events.get(name) -%}
, {{ events[name] }} {{ label }}
{%- endfor -%}
    {%- endset -%}
    {%- set more -%}
{{ audit.rows_current }} rows now; load {{ load.load_id }}
{%- if load.replaced %} replaces {{ load.replaced | join(', ') }}{% endif -%}
{%- set drift = spark_cdc._snapshot_message(entity, load, counts) -%}
{%- if drift %}; {{ drift }}{% endif -%}
{%- if audit.record.get('definition_change') %}; definition changed: {{ audit.record.definition_change }}{% endif -%}
    {%- endset -%}
    {%- set told = {'date': load.business_time, 'rows': audit.rows_in | int, 'counts': came} -%}
    {%- set is_told = spark_cdc._is_told(load.entity, 'load', told) -%}
    {%- do log(load.entity ~ ' ' ~ told.date ~ ': ' ~ told.rows ~ ' rows in, ' ~ came ~ '; ' ~ more ~ place, info=not is_told) -%}
{%- endmacro -%}
