{#- Audits the loads of some dates that are written but not yet visible, one after the other, as _audit_load() does: each on the figures of the one
    before. Arguments: run, loads (their plans), days, views (of _landed_dates_sql()), done (as of _backfill_dates()). Returns a dictionary: manifest, loads. -#}
{%- macro _audit_backfill(run, loads, days, views, done) -%}
    {%- set entity, ledger, first = run.entity, run.ledger, loads[0] -%}
    {%- set names = loads | map(attribute='load_id') | list -%}
    {#- what a backfill has written before it has counted, too -#}
    {%- set state = [] if done else ([first.base] if first.base else []) + first.log -%}
    {%- set counted = spark_cdc._load_counts(ledger, state + names, names, [
        spark_cdc._loads_repeats_sql(ledger, names), spark_cdc._rule_counts_sql(entity, ledger, names),
        spark_cdc._masked_ledger_differences_sql(run, names),
    ]) -%}
    {%- set problem = spark_cdc._masked_ledger_problem(run, counted.also.get('masked', 0)) -%}
    {%- if problem -%}{%- do spark_cdc._refuse_load(entity, 'counts', problem, first) -%}{%- endif -%}
    {%- set inputs = spark_cdc._backfill_inputs(entity, loads, days, views) -%}
    {%- set at = namespace(manifest=run.manifest, loads=[]) -%}
    {%- set recent = {} -%}
    {%- for one in done[-5:] -%}{%- do recent.update({one.load.load_id: one.audit.rows_in}) -%}{%- endfor -%}
    {%- for load in loads -%}
        {%- set record = counted.records.get(load.load_id) -%}
        {%- if not record -%}
            {%- do spark_cdc._refuse_load(entity, 'parent', entity.name ~ ': the ledger holds no whole load ' ~ load.load_id
                ~ ', which the backfill has written. Nothing was committed and readers see what they saw before. Run the same command again.', load) -%}
        {%- endif -%}
        {%- set prior = {'rows': at.manifest.rows, 'log_rows': at.manifest.log_rows} -%}
        {%- set of_load = dict(run, time=spark_cdc._load_time(load.load_id), manifest=at.manifest,
            load=dict(load, prior_rows=prior.rows, prior_log_rows=prior.log_rows)) -%}
        {%- set input = inputs[load.load_id] -%}
        {%- do spark_cdc._check_input(of_load, record, input) -%}
        {%- set written = dict(counted.rows.get(load.load_id, {})) -%}
        {%- set repeated = written.pop('repeated', 0) -%}
        {%- do written.pop('L', none) -%}
        {%- set counts = dict(dict.fromkeys('IUDNXRT', 0), **written) -%}
        {%- set known = {
            'counts': counts, 'rows_prior': prior.rows, 'record': record, 'files': input.get('files') or record.get('files'),
            'lines': input.records, 'repeated': repeated, 'broken': counted.rules.get(load.load_id),
        } -%}
        {%- if loop.first and not done -%}
            {%- do spark_cdc._check_prior(of_load, spark_cdc._figures_of_state(counted.rows, load.base, load.log), known) -%}
        {%- endif -%}
        {%- if counts.R -%}{%- do spark_cdc._refuse_rejects(of_load, known) -%}{%- endif -%}
        {%- set audit = spark_cdc._audit_counted_load(of_load, known, prior, recent) -%}
        {%- do recent.update({load.load_id: audit.rows_in}) -%}
        {%- set at.manifest = spark_cdc._next_manifest(of_load, audit) -%}
        {%- set at.loads = at.loads + [{'load': load, 'audit': audit}] -%}
    {%- endfor -%}
    {{ return({'manifest': at.manifest, 'loads': at.loads}) }}
{%- endmacro -%}


{#- What was read, as it lies there now, by load: files, lines, and records, how many rows came in, where a reader tells that does not cast. -#}
{%- macro _backfill_inputs(entity, loads, days, views) -%}
    {%- set inputs, queries = {}, [] -%}
    {%- set together = spark_cdc._dates_input(entity, days | map(attribute='time') | list) -%}
    {%- for load in loads -%}
        {%- do inputs.update({load.load_id: dict({'records': none}, **(together[loop.index0] if together else {}))}) -%}
        {%- set sql = none if together else spark_cdc._input_sql(entity, days[loop.index0].time) -%}
        {%- if sql -%}
            {%- do queries.append("select '" ~ load.load_id ~ "' as load_id, operation, note\nfrom (\n" ~ sql ~ '\n) as input') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for row in (spark_cdc._query(queries | join('\n\nunion all\n\n')) if queries else []) -%}
        {%- do inputs[row.load_id].update({row.operation: fromjson(row.note)}) -%}
    {%- endfor -%}
    {%- set counts = {} -%}
    {%- if not inputs.values() | selectattr('lines') | selectattr('lines.records', 'number') | list -%}
        {%- set counts = spark_cdc._landed_dates_counts(views) -%}
    {%- endif -%}
    {%- for load in loads -%}
        {%- set input = inputs[load.load_id] -%}
        {%- set records = (input.get('lines') or {}).get('records') -%}
        {%- do input.update({'records': counts.get(days[loop.index0].day, 0) if records is none else records}) -%}
    {%- endfor -%}
    {{ return(inputs) }}
{%- endmacro -%}


{#- How many keys come more than once among the rows that each of some loads has written, as of _repeats_sql(). -#}
{%- macro _loads_repeats_sql(ledger, loads) -%}
select
    load_id,
    'repeated' as operation,
    count(*) as row_count,
    cast(null as string) as note
from (
    select
        load_id,
        key_hash
    from {{ ledger }}
    where
        {{ spark_cdc._in_loads(loads) }}
        and operation in {{ spark_cdc._operations('received') }}
        and key_hash is not null
    group by load_id, key_hash
    having count(*) > 1 and max(operation <> 'R')
)
group by load_id
{%- endmacro -%}


{#- Rejected rows stop a backfill, also where a load of the date alone would set them aside: what their keys were before is not known then. -#}
{%- macro _refuse_rejects(run, known) -%}
    {%- do spark_cdc._check_rejects(run, known) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- set message -%}
{{ entity.name }}: {{ spark_cdc._counted(known.counts.R, 'row') }} of {{ load.business_time }} would be set aside (quarantine), which a backfill does not {# -#}
do. Nothing was committed and readers see what they saw before. Backfill the dates before it, load {{ load.business_time }} by itself (spark-cdc load {# -#}
'{{ load.business_time }}' --select {{ entity.name }}), then backfill the rest.
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, 'rejects', message, load, known) -%}
{%- endmacro -%}
