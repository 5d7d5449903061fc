{#- Audits a load that is written but not yet visible. Raises an error, with figures and examples, where rows were rejected, keys came twice,
    the counts don't reconcile, a guard trips or the load builds on a state that is no longer the last.
    Arguments: run (of _planned_run()). Returns a dictionary: what _figures_of_load() has,
    log_rows (rows written since the checkpoint, for later loads to overlay), previous (figures of the state before),
    rules (of _rule_counts_of_load()), ruled_out (how many rows rules set aside), recent (of _usual_rows()). -#}
{%- macro _audit_load(run, is_again=false) -%}
    {%- set load = run.load -%}
    {%- set loads = ([load.base] if load.base else []) + load.log + [load.load_id] -%}
    {%- set counted = spark_cdc._load_counts(run.ledger, loads, [load.load_id], [
        spark_cdc._repeats_sql(run), spark_cdc._input_sql(run.entity, run.time), spark_cdc._rule_counts_sql(run.entity, run.ledger, [load.load_id]),
        spark_cdc._masked_ledger_differences_sql(run, [load.load_id]),
    ]) -%}
    {%- set record = counted.records.get(load.load_id) -%}
    {%- if record is none or record.parent != load.parent -%}
        {%- set record = record or spark_cdc._record_of_other_name(run) -%}
        {%- if record or is_again or not spark_cdc._is_load_again(run, 'ledger') -%}{%- do spark_cdc._refuse_other_parent(run, record) -%}{%- endif -%}
        {%- do spark_cdc._load_again(run) -%}
        {{ return(spark_cdc._audit_load(run, is_again=true)) }}
    {%- endif -%}
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
    {%- if problem -%}{%- do spark_cdc._refuse_load(run.entity, 'counts', problem, load, known) -%}{%- endif -%}
    {%- if counts.R -%}
        {%- do spark_cdc._check_rejects(run, known) -%}
        {%- if not spark_cdc._is_plan() -%}{%- do spark_cdc._note_unread_rejects(run, [load.load_id]) -%}{%- endif -%}
    {%- endif -%}
    {{ return(spark_cdc._audit_counted_load(run, known, prior)) }}
{%- endmacro -%}


{#- What both audits end with, that of a load and that of a backfill. Arguments: run (with the load), known (counts, rows_prior, record, files, lines,
    repeated, unchanged: how many rows the load marked as such, if it did; broken: rows by rule), prior (figures of the state before), recent (of _usual_rows()).
    Returns what _audit_load() returns. -#}
{%- macro _audit_counted_load(run, known, prior, recent={}) -%}
    {%- set load, counts = run.load, known.counts -%}
    {%- do spark_cdc._check_duplicate_keys(run, known) -%}
    {%- do spark_cdc._check_counts(run, known) -%}
    {%- set figures = spark_cdc._figures_of_load(load.load_id, counts, prior.rows, known.record) -%}
    {%- set audit = dict(
        figures,
        rules=spark_cdc._rule_counts_of_load(run.entity, figures.counts, known.broken),
        ruled_out=(known.broken or {}).get('', 0),
        files=known.files,
        log_rows=0 if load.is_checkpoint else prior.log_rows + counts.I + counts.U + counts.D + counts.N + counts.X,
        previous=prior,
        recent=recent,
    ) -%}
    {%- do spark_cdc._check_guards(run.entity, run.ledger, load, audit) -%}
    {{ return(audit) }}
{%- endmacro -%}


{#- The load that this attempt wrote may have another name than the one planned now: with what another run committed, a
    checkpoint is due that was not, or no longer. -#}
{%- macro _record_of_other_name(run) -%}
    {%- set name = spark_cdc._load_id(run.entity, spark_cdc._load_time(run.load.load_id), not run.load.is_checkpoint) -%}
    {{ return(spark_cdc._load_records(run.ledger, [name]).get(name)) }}
{%- endmacro -%}


{%- macro _refuse_other_parent(run, record) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- set message -%}
{{ entity.name }}: {# -#}
{%- if record -%}
another run committed a load meanwhile: this one builds on {{ record.parent or 'nothing' }}, but the last load before {# -#}
{{ load.business_time }} is now {{ load.parent or 'none' }}
{%- else -%}
the ledger holds no whole load {{ load.load_id }}, as if {{ entity.name }}_ledger had not run
{%- endif -%}
. Nothing was committed and readers see what they saw before. Load the date again: {{ spark_cdc._load_command(entity, load.business_time) }}.
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, 'parent', message, load, {'record': record}) -%}
{%- endmacro -%}
