{#- Audits a load that is written but not yet visible. Raises an error, with figures and examples, where rows were
    rejected, keys came twice, the counts don't reconcile or the load builds on a state that is no longer the last.
    Arguments: entity, ledger (relation), load (of _plan_load(), made anew from the manifest of this moment), time.
    Returns a dictionary: counts (operation to rows, with the N and X that are not written), rows_in,
    rows_prior, rows_current, log_rows, previous, record (the load's own record). -#}
{%- macro _audit_load(entity, ledger, load, time) -%}
    {%- set own = spark_cdc._query(spark_cdc._counts_sql(ledger, load)) -%}
    {%- set counts = {'I': 0, 'U': 0, 'D': 0, 'N': 0, 'X': 0, 'R': 0, 'T': 0} -%}
    {%- set rows = {} -%}
    {%- set own_record = namespace(found=none) -%}
    {%- for row in own -%}
        {%- if row.load_id == load.load_id and row.operation == 'L' -%}
            {%- set own_record.found = fromjson(row.note) -%}
        {%- else -%}
            {%- do rows.setdefault(row.load_id, {}).update({row.operation: row.row_count | int}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do counts.update(rows.get(load.load_id, {})) -%}
    {%- set record = own_record.found -%}
    {%- set prior = spark_cdc._figures_of_state(rows, load.base, load.log) -%}
    {%- if record is none or record.parent != load.parent -%}
        {%- do spark_cdc._refuse_other_parent(entity, ledger, load, record) -%}
    {%- endif -%}
    {%- set known = {'counts': counts, 'rows_prior': prior.rows, 'record': record} -%}
    {%- if counts.R -%}
        {%- do spark_cdc._check_rejects(entity, ledger, load, known) -%}
    {%- endif -%}
    {%- do spark_cdc._check_duplicate_keys(entity, ledger, load, known) -%}

    {%- set written = counts.I + counts.U + counts.N + counts.R -%}
    {%- if load.load_type == 'full' -%}
        {%- set rows_in = written if load.is_checkpoint else spark_cdc._count_input(entity, time) -%}
        {%- set kept = prior.rows - counts.D - counts.U - counts.X -%}  {#- X: held, since a rejected row may be theirs -#}
        {%- if rows_in - counts.I - counts.U - counts.R != kept -%}
            {%- do spark_cdc._find_unchanged_duplicates(entity, load, time, known) -%}
            {%- do spark_cdc._refuse_counts(entity, load, known, rows_in, kept) -%}
        {%- endif -%}
        {%- do counts.update({'N': kept}) -%}
    {%- else -%}
        {%- set rows_in = record.events.event_count if entity.events else written + counts.D + counts['T'] -%}
        {%- set kept = prior.rows - counts.U - counts.N - counts.D -%}
        {%- if kept < 0 or (load.is_checkpoint and kept != counts.X) -%}
            {%- do spark_cdc._refuse_counts(entity, load, known, rows_in, kept) -%}
        {%- endif -%}
        {%- do counts.update({'X': kept}) -%}
    {%- endif -%}
    {%- set log_rows = 0 if load.is_checkpoint else
            prior.log_rows + counts.I + counts.U + counts.D + (counts.X if load.load_type == 'full' else counts.N) -%}
    {%- set audit = {
        'counts': counts,
        'rows_in': rows_in,
        'rows_prior': prior.rows,
        'rows_current': prior.rows + counts.I - counts.D,
        'log_rows': log_rows,
        'previous': prior,
        'record': record,
    } -%}
    {%- do spark_cdc._check_guards(entity, ledger, load, audit) -%}
    {{ return(audit) }}
{%- endmacro -%}


{#- Rows per operation of the load and of the state before it. Nothing but file footers and the load's own record
    is read. -#}
{%- macro _counts_sql(ledger, load) -%}
select
    load_id,
    operation,
    count(*) as row_count,
    cast(null as string) as note
from {{ ledger }}
where
    {{ spark_cdc._in_loads(([load.base] if load.base else []) + load.log + [load.load_id]) }}
    and operation <> 'L'
group by load_id, operation

union all

select
    load_id,
    operation,
    1 as row_count,
    note
from {{ ledger }}
where load_id = '{{ load.load_id }}' and operation = 'L'
{%- endmacro -%}


{#- The load that this attempt wrote may have another name than the one planned now: with what another run committed, a
    checkpoint is due that was not, or no longer. -#}
{%- macro _refuse_other_parent(entity, ledger, load, record) -%}
    {%- if not record -%}
        {%- set name = spark_cdc._load_id(entity, spark_cdc._load_time(load.load_id), not load.is_checkpoint) -%}
        {%- set record = spark_cdc._load_records(ledger, [name]).get(name) -%}
    {%- endif -%}
    {%- set what = "another run committed a load meanwhile: this one builds on " ~ (record.parent or 'nothing')
            ~ ', but the last load before ' ~ load.business_time ~ ' is now ' ~ (load.parent or 'none')
            if record else 'the ledger holds no whole load ' ~ load.load_id ~ ', as if ' ~ entity.name ~ '_ledger had not run' -%}
    {%- do spark_cdc._refuse_load(
        entity, 'parent',
        entity.name ~ ': ' ~ what ~ '. Nothing was committed and readers see what they saw before. Run '
        ~ "dbt run --select " ~ entity.name ~ "_ledger+ --vars '{business_date: " ~ load.business_time ~ spark_cdc._replay_text() ~ "}' again.",
        load, {'record': record}
    ) -%}
{%- endmacro -%}


{#- A key may come once in a load. Keys whose rows are written are looked at here, on the narrow hash column; a key
    that came twice unchanged in a full load shows in the counts. A rejected row counts, too, beside one that was accepted. -#}
{%- macro _check_duplicate_keys(entity, ledger, load, known) -%}
    {%- set supplied = spark_cdc._operations('received' if known.counts.R and not entity.events else 'supplied') -%}
    {%- set of_load = ledger ~ " where load_id = '" ~ load.load_id ~ "' and operation in " ~ supplied -%}
    {%- set laid_out = spark_cdc._laid_out(entity, ledger, known.record.get('layout') or {}) -%}
    {%- set is_repeated = " having count(*) > 1 and max(operation <> 'R')" -%}
    {%- set twice = spark_cdc._query(
        'select key_hash, count(*) as row_count from ' ~ of_load ~ ' and key_hash is not null group by key_hash' ~ is_repeated ~ ' limit 1000'
    ) -%}
    {%- if not twice -%}
        {{ return('') }}
    {%- endif -%}
    {%- set key_names = entity.key_columns | map(attribute='sql') | join(', ') -%}
    {%- set examples = spark_cdc._query(
        'select ' ~ key_names ~ ', count(*) as row_count from ' ~ of_load.replace(ledger | string, laid_out | string, 1) ~ ' group by ' ~ key_names ~ is_repeated ~ ' limit 5'
    ) -%}
    {%- do spark_cdc._refuse_duplicates(entity, load, ('1000 or more keys come' if twice | length == 1000 else
        (twice | length) ~ (' key comes' if twice | length == 1 else ' keys come')) ~ ' more than once', spark_cdc._key_lines(entity, examples), known) -%}
{%- endmacro -%}


{%- macro _refuse_duplicates(entity, load, what, lines, known) -%}
    {%- do spark_cdc._refuse_load(
        entity, 'duplicate_keys',
        entity.name ~ ': ' ~ what ~ ' in ' ~ load.business_time ~ '; a ' ~ load.load_type ~ ' load takes one row per key '
        ~ '(key: ' ~ entity.key_columns | map(attribute='name') | join(', ') ~ '). Examples:\n    - ' ~ lines | join('\n    - ')
        ~ '\nNothing was committed and readers see what they saw before. Correct the data, or the columns with the role '
        ~ 'key in stg_' ~ entity.name ~ ', and run the same command again. To set all rows of these keys aside this once: '
        ~ spark_cdc._lift_command(entity, load, ['duplicate_keys']) ~ '; always: on_duplicate_key: quarantine.',
        load, known
    ) -%}
{%- endmacro -%}


{#- Keys that came twice without a change are not in the ledger, so the input is looked at again: only once the counts
    have shown that something is wrong. -#}
{%- macro _find_unchanged_duplicates(entity, load, time, known) -%}
    {%- set keys = entity.key_columns | map(attribute='sql') | join(', ') -%}
    {%- do spark_cdc._land_load(entity, spark_cdc._landing_source(entity), time) -%}
    {%- set examples = spark_cdc._query(
        'select ' ~ keys ~ ', count(*) as row_count from (' ~ spark_cdc._stage_sql(entity, spark_cdc._landed_view(entity))
        ~ ') as incoming group by ' ~ keys ~ ' having count(*) > 1 limit 5'
    ) -%}
    {%- if examples -%}
        {%- do spark_cdc._refuse_duplicates(
            entity, load, 'keys come more than once', spark_cdc._key_lines(entity, examples), known) -%}
    {%- endif -%}
{%- endmacro -%}


{#- The counts don't reconcile and no key came twice: the input changed while it was read. -#}
{%- macro _refuse_counts(entity, load, known, rows_in, kept) -%}
    {%- set counts = known.counts -%}
    {%- do spark_cdc._refuse_load(
        entity, 'counts',
        entity.name ~ ': the counts of ' ~ load.business_time ~ ' do not reconcile: ' ~ rows_in ~ ' rows in, ' ~ known.rows_prior
        ~ ' rows before; I ' ~ counts.I ~ ', U ' ~ counts.U ~ ', D ' ~ counts.D ~ ', rejected ' ~ counts.R
        ~ (', which leaves ' ~ (rows_in - counts.I - counts.U - counts.R) ~ ' unchanged rows in the load but ' ~ kept
           ~ ' in the state before' if load.load_type == 'full' else ', N ' ~ counts.N ~ ', X ' ~ counts.X)
        ~ '. The input changed while it was read, or stg_' ~ entity.name ~ ' filters rows. Nothing was committed and '
        ~ 'readers see what they saw before. Run the same command again once the input is complete.',
        load, dict(known, rows_in=rows_in)
    ) -%}
{%- endmacro -%}
