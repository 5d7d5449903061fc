{#- Audits a load that is written but not yet visible. Raises an error, with figures and examples, where rows were rejected, keys came twice,
    the counts don't reconcile, a guard trips or the load builds on a state that is no longer the last.
    Arguments: run (of _planned_run()). Returns a dictionary: what _figures_of_load() has,
    log_rows (rows written since the checkpoint, for later loads to overlay), previous (figures of the state before). -#}
{%- macro _audit_load(run) -%}
    {%- set load = run.load -%}
    {%- set loads = ([load.base] if load.base else []) + load.log + [load.load_id] -%}
    {%- set counted = spark_cdc._load_counts(run.ledger, loads, [load.load_id], [
        spark_cdc._repeats_sql(run), spark_cdc._input_sql(run.entity, run.time),
    ]) -%}
    {%- set record = counted.records.get(load.load_id) -%}
    {%- if record is none or record.parent != load.parent -%}
        {%- do spark_cdc._refuse_other_parent(run, record) -%}
    {%- endif -%}
    {%- do spark_cdc._check_input(run, record, counted.also) -%}
    {%- set counts = dict(dict.fromkeys('IUDNXRT', 0), **counted.rows.get(load.load_id, {})) -%}
    {%- do counts.pop('L', none) -%}
    {%- set prior = spark_cdc._figures_of_state(counted.rows, load.base, load.log) -%}
    {%- set known = {
        'counts': counts, 'rows_prior': prior.rows, 'record': record,
        'files': counted.also.get('files') or record.get('files'), 'lines': (counted.also.get('lines') or {}).get('records'),
        'repeated': counted.also.repeated | int,
    } -%}
    {%- do spark_cdc._check_prior(run, prior, known) -%}
    {%- if counts.R -%}
        {%- do spark_cdc._check_rejects(run, known) -%}
    {%- endif -%}
    {%- do spark_cdc._check_duplicate_keys(run, known) -%}
    {%- do spark_cdc._check_counts(run, known) -%}
    {%- set audit = dict(
        spark_cdc._figures_of_load(load.load_id, counts, prior.rows, record),
        files=known.files,
        log_rows=0 if load.is_checkpoint else prior.log_rows + counts.I + counts.U + counts.D + counts.N + counts.X,
        previous=prior,
    ) -%}
    {%- do spark_cdc._check_guards(run.entity, run.ledger, load, audit) -%}
    {{ return(audit) }}
{%- endmacro -%}


{#- The load that this attempt wrote may have another name than the one planned now: with what another run committed, a
    checkpoint is due that was not, or no longer. -#}
{%- macro _refuse_other_parent(run, record) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- if not record -%}
        {%- set name = spark_cdc._load_id(entity, spark_cdc._load_time(load.load_id), not load.is_checkpoint) -%}
        {%- set record = spark_cdc._load_records(run.ledger, [name]).get(name) -%}
    {%- endif -%}
    {%- set message -%}
{{ entity.name }}: {# -#}
{%- if record -%}
another run committed a load meanwhile: this one builds on {{ record.parent or 'nothing' }}, but the last load before {# -#}
{{ load.business_time }} is now {{ load.parent or 'none' }}
{%- else -%}
the ledger holds no whole load {{ load.load_id }}, as if {{ entity.name }}_ledger had not run
{%- endif -%}
. Nothing was committed and readers see what they saw before. Run dbt run --select {{ spark_cdc._load_selector(entity) }} --vars '{business_date: {# -#}
{{ load.business_time }}{{ spark_cdc._replay_text() }}}' again.
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, 'parent', message, load, {'record': record}) -%}
{%- endmacro -%}


{#- The counts must add up: in a full load the rows that came in and were not new, other or rejected are those that were there and neither
    changed nor went (nor are held, X, since a rejected row may be theirs); in a delta, or of events, no more rows can have been touched than
    were there. Keys that came twice without a change are not in the ledger, so the input is looked at again, only once the counts are wrong;
    else the input changed while it was read. -#}
{%- macro _check_counts(run, known) -%}
    {%- set entity, load, counts = run.entity, run.load, known.counts -%}
    {%- set written = counts.I + counts.U + counts.R -%}
    {%- set is_full = load.load_type == 'full' and not entity.events -%}
    {%- if is_full -%}
        {%- set is_counted = known.lines is none and (load.is_checkpoint or known.files and not known.files.files) -%}
        {%- set rows_in = written + counts.N if is_counted else spark_cdc._count_input(entity, run.time) if known.lines is none else known.lines -%}
        {#- rows that a snapshot flags as deleted count as missing -#}
        {%- set flagged = spark_cdc._count_flagged(run) if entity.deleted_when and not is_counted else 0 -%}
        {%- set rows_in = rows_in - flagged -%}
        {%- set kept = known.rows_prior - counts.D - counts.U - counts.X -%}
        {%- if rows_in - written == kept -%}{{ return('') }}{%- endif -%}
        {%- do spark_cdc._land_load(entity, spark_cdc._landing_source(entity), run.time) -%}
        {%- set incoming = '(\n' ~ spark_cdc._stage_sql(entity, spark_cdc._landed_view(entity)) ~ '\n) as incoming' -%}
        {%- set examples = spark_cdc._query(spark_cdc._repeated_keys_sql(entity, incoming)) -%}
        {%- if examples -%}
            {%- do spark_cdc._refuse_duplicates(run, known, 'keys come', examples) -%}
        {%- endif -%}
    {%- else -%}
        {%- set rows_in = spark_cdc._figures_of_events(load.load_id, known.record) if entity.events else written + counts.N + counts.D + counts['T'] -%}
        {%- set kept = known.rows_prior - counts.U - counts.N - counts.D -%}
        {#- a message of these formats, and of a user's own, may hold several events -#}
        {%- set is_counted = not entity.events or entity.events.get('snapshot') or entity.events.format in spark_cdc._event_formats() | reject('in', ['canal', 'wal2json']) -%}
        {%- set is_in = known.lines in [none, rows_in] or not is_counted -%}
        {%- if is_in and (kept == counts.X if load.is_checkpoint else kept >= 0) -%}{{ return('') }}{%- endif -%}
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
