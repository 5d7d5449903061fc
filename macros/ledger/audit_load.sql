{#- Audits a load that is written but not yet visible. Raises an error, with figures and examples, where rows were
    rejected, keys came twice, the counts don't reconcile or the load builds on a state that is no longer the last.
    Arguments: entity, ledger (relation), load (of plan_load(), made anew from the manifest of this moment), time.
    Returns a dictionary: counts (operation to rows, with the N and X that are not written), rows_in,
    rows_prior, rows_current, log_rows, previous, record (the load's own record). -#}
{%- macro audit_load(entity, ledger, load, time) -%}
    {%- set own = spark_cdc._query(spark_cdc._counts_sql(ledger, load)) -%}
    {%- set counts = {'I': 0, 'U': 0, 'D': 0, 'N': 0, 'X': 0, 'R': 0, 'T': 0} -%}
    {%- set prior = namespace(rows=0, log_rows=0, record=none) -%}
    {%- for row in own -%}
        {%- if row.load_id == load.load_id and row.operation == 'L' -%}
            {%- set prior.record = fromjson(row.note) -%}
        {%- elif row.load_id == load.load_id -%}
            {%- do counts.update({row.operation: row.row_count | int}) -%}
        {%- elif row.load_id == load.base -%}
            {%- set prior.rows = prior.rows + (row.row_count | int if row.operation in spark_cdc.operations('existing') else 0) -%}
        {%- elif row.operation in spark_cdc.operations('visible') -%}
            {%- set prior.log_rows = prior.log_rows + row.row_count | int -%}
            {%- set prior.rows = prior.rows + {'I': 1, 'D': -1}.get(row.operation, 0) * row.row_count | int -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if prior.record is none or prior.record.parent != load.parent -%}
        {%- do spark_cdc._refuse_other_parent(entity, load, prior.record) -%}
    {%- endif -%}
    {%- if counts.R -%}
        {%- do spark_cdc._refuse_rejects(entity, ledger, load, counts) -%}
    {%- endif -%}
    {%- do spark_cdc._check_duplicate_keys(entity, ledger, load, prior.record.get('layout') or {}) -%}

    {%- set written = counts.I + counts.U + counts.N + counts.R -%}
    {%- set previous = {'rows': prior.rows, 'log_rows': prior.log_rows} -%}
    {%- if load.load_type == 'full' -%}
        {%- set rows_in = written if load.is_checkpoint else spark_cdc._count_input(entity, time) -%}
        {%- set kept = prior.rows - counts.D - counts.U -%}
        {%- if rows_in - counts.I - counts.U - counts.R != kept -%}
            {%- do spark_cdc._find_unchanged_duplicates(entity, load, time) -%}
            {%- do spark_cdc._refuse_counts(entity, load, counts, rows_in, prior.rows, kept) -%}
        {%- endif -%}
        {%- do counts.update({'N': kept}) -%}
    {%- else -%}
        {%- set rows_in = prior.record.events.event_count if entity.events else written + counts.D + counts['T'] -%}
        {%- set kept = prior.rows - counts.U - counts.N - counts.D -%}
        {%- if kept < 0 or (load.is_checkpoint and kept != counts.X) -%}
            {%- do spark_cdc._refuse_counts(entity, load, counts, rows_in, prior.rows, kept) -%}
        {%- endif -%}
        {%- do counts.update({'X': kept}) -%}
    {%- endif -%}
    {%- set log_rows = 0 if load.is_checkpoint else
            prior.log_rows + counts.I + counts.U + counts.D + (counts.N if load.load_type != 'full' else 0) -%}
    {{ return({
        'counts': counts,
        'rows_in': rows_in,
        'rows_prior': prior.rows,
        'rows_current': prior.rows + counts.I - counts.D,
        'log_rows': log_rows,
        'previous': previous,
        'record': prior.record,
    }) }}
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


{#- The rows that came in, counted without reading a column. -#}
{%- macro _count_input(entity, time) -%}
    {%- set landing = spark_cdc._landing_source(entity) -%}
    {%- if entity.source.format == 'table' -%}
        {%- do run_query(spark_cdc._table_view_sql(entity, landing, time)) -%}
    {%- else -%}
        {%- do run_query(spark_cdc._files_view_sql(entity, time)) -%}
    {%- endif -%}
    {%- set blank_lines = " where trim(value) <> ''" if entity.source.format == 'json' else '' -%}
    {{ return(spark_cdc._query('select count(*) as row_count from ' ~ spark_cdc._files_view(entity) ~ blank_lines)[0].row_count | int) }}
{%- endmacro -%}


{%- macro _refuse_other_parent(entity, load, record) -%}
    {%- set what = "another run committed a load meanwhile: this one builds on " ~ (record.parent or 'nothing')
            ~ ', but the last load before ' ~ load.business_time ~ ' is now ' ~ (load.parent or 'none')
            if record else 'the ledger holds no whole load ' ~ load.load_id ~ ', as if ' ~ entity.name ~ '_ledger had not run' -%}
    {% do exceptions.raise_compiler_error(
        entity.name ~ ': ' ~ what ~ '. Nothing was committed and readers see what they saw before. Run '
        ~ "dbt run --select " ~ entity.name ~ "_ledger+ --vars '{business_date: " ~ load.business_time ~ "}' again."
    ) %}
{%- endmacro -%}


{%- macro _refuse_rejects(entity, ledger, load, counts) -%}
    {%- set examples = spark_cdc._query(
        'select note from ' ~ ledger ~ " where load_id = '" ~ load.load_id ~ "' and operation = 'R' limit 5"
    ) -%}
    {%- set lines = [] -%}
    {%- for example in examples -%}
        {%- set note = fromjson(example.note) -%}
        {%- do lines.append(note.reasons | join('; ') ~ '\n      in ' ~ tojson(note.row)[:300]) -%}
    {%- endfor -%}
    {% do exceptions.raise_compiler_error(
        entity.name ~ ': ' ~ counts.R ~ (' row' if counts.R == 1 else ' rows') ~ ' of ' ~ load.business_time
        ~ " can't be accepted as declared in stg_" ~ entity.name ~ '; ' ~ (examples | length) ~ ' of them:\n    - '
        ~ lines | join('\n    - ') ~ '\nNothing was committed and readers see what they saw before. Correct the data '
        ~ 'or the types, and run the same command again. The rejected rows are in ' ~ ledger ~ " where load_id = '"
        ~ load.load_id ~ "' and operation = 'R'."
    ) %}
{%- endmacro -%}


{#- A key may come once in a load. Keys whose rows are written are looked at here, on the narrow hash column; a key
    that came twice unchanged in a full load shows in the counts. -#}
{%- macro _check_duplicate_keys(entity, ledger, load, layout) -%}
    {%- set twice = spark_cdc._query(
        'select key_hash, count(*) as row_count from ' ~ ledger ~ " where load_id = '" ~ load.load_id
        ~ "' and operation in " ~ spark_cdc.operations('supplied') ~ " group by key_hash having count(*) > 1 limit 1000"
    ) -%}
    {%- if not twice -%}
        {{ return('') }}
    {%- endif -%}
    {%- set examples = spark_cdc._query(
        'select ' ~ entity.key_columns | map(attribute='sql') | join(', ') ~ ', count(*) as row_count from '
        ~ spark_cdc._laid_out(entity, ledger, layout) ~ " where load_id = '" ~ load.load_id ~ "' and operation in " ~ spark_cdc.operations('supplied') ~ " group by "
        ~ entity.key_columns | map(attribute='sql') | join(', ') ~ ' having count(*) > 1 limit 5'
    ) -%}
    {%- do spark_cdc._refuse_duplicates(entity, load, ('1000 or more keys come' if twice | length == 1000 else
        (twice | length) ~ (' key comes' if twice | length == 1 else ' keys come')) ~ ' more than once', spark_cdc._key_lines(entity, examples)) -%}
{%- endmacro -%}


{%- macro _refuse_duplicates(entity, load, what, lines) -%}
    {% do exceptions.raise_compiler_error(
        entity.name ~ ': ' ~ what ~ ' in ' ~ load.business_time ~ '; a ' ~ load.load_type ~ ' load takes one row per key '
        ~ '(key: ' ~ entity.key_columns | map(attribute='name') | join(', ') ~ '). Examples:\n    - ' ~ lines | join('\n    - ')
        ~ '\nNothing was committed and readers see what they saw before. Correct the data, or the columns with the role '
        ~ 'key in stg_' ~ entity.name ~ ', and run the same command again.'
    ) %}
{%- endmacro -%}


{#- Keys that came twice without a change are not in the ledger, so the input is looked at again: only once the counts
    have shown that something is wrong. -#}
{%- macro _find_unchanged_duplicates(entity, load, time) -%}
    {%- set keys = entity.key_columns | map(attribute='sql') | join(', ') -%}
    {%- do spark_cdc.land(entity, spark_cdc._landing_source(entity), time) -%}
    {%- set examples = spark_cdc._query(
        'select ' ~ keys ~ ', count(*) as row_count from (' ~ spark_cdc.stage_sql(entity, spark_cdc._landed_view(entity))
        ~ ') as incoming group by ' ~ keys ~ ' having count(*) > 1 limit 5'
    ) -%}
    {%- if examples -%}
        {%- do spark_cdc._refuse_duplicates(
            entity, load, 'keys come more than once', spark_cdc._key_lines(entity, examples)) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Keys and how often they came, a line each. -#}
{%- macro _key_lines(entity, examples) -%}
    {%- set lines = [] -%}
    {%- for example in examples -%}
        {%- set values = [] -%}
        {%- for column in entity.key_columns -%}{%- do values.append(column.name ~ ' = ' ~ example[column.name]) -%}{%- endfor -%}
        {%- do lines.append(values | join(', ') ~ ' (' ~ example.row_count ~ ' rows)') -%}
    {%- endfor -%}
    {{ return(lines) }}
{%- endmacro -%}


{#- The counts don't reconcile and no key came twice: the input changed while it was read. -#}
{%- macro _refuse_counts(entity, load, counts, rows_in, rows_prior, kept) -%}
    {% do exceptions.raise_compiler_error(
        entity.name ~ ': the counts of ' ~ load.business_time ~ ' do not reconcile: ' ~ rows_in ~ ' rows in, ' ~ rows_prior
        ~ ' rows before; I ' ~ counts.I ~ ', U ' ~ counts.U ~ ', D ' ~ counts.D ~ ', rejected ' ~ counts.R
        ~ (', which leaves ' ~ (rows_in - counts.I - counts.U - counts.R) ~ ' unchanged rows in the load but ' ~ kept
           ~ ' in the state before' if load.load_type == 'full' else ', N ' ~ counts.N ~ ', X ' ~ counts.X)
        ~ '. The input changed while it was read, or stg_' ~ entity.name ~ ' filters rows. Nothing was committed and '
        ~ 'readers see what they saw before. Run the same command again once the input is complete.'
    ) %}
{%- endmacro -%}
