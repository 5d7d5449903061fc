{#- Backfills an entity: some dates at a time are landed, staged, compared and written by one statement, then audited date by date, each as if it were
    loaded by itself; all are committed at the end. The last date goes alone, so that where a checkpoint is due, readers have it.
    Arguments: capture, times (datetimes, in order), skip_missing, dates_per_statement as of backfill(). -#}
{%- macro _backfill_entity(capture, times, skip_missing, dates_per_statement) -%}
    {%- set entity = capture.entity -%}
    {%- for schema in [capture.schema, capture.ledger.schema] | unique -%}
        {%- do spark_cdc._send('create schema if not exists ' ~ spark_cdc._quote(schema)) -%}
    {%- endfor -%}
    {%- do spark_cdc._ensure_load_log(capture.load_log) -%}
    {%- set head = spark_cdc._head(capture) -%}
    {%- set todo = spark_cdc._backfill_todo(capture, head, times) -%}
    {%- if todo | length < times | length -%}
        {%- do log(entity.name ~ ': ' ~ spark_cdc._counted(times | length - todo | length, 'date') ~ ' committed already and left out', info=true) -%}
    {%- endif -%}
    {%- set todo = spark_cdc._backfill_landed(entity, todo, skip_missing) -%}
    {%- if not todo -%}
        {%- if head.loads -%}
            {%- do spark_cdc._record_missing_loads(capture, head) -%}  {#- of a backfill that broke off when it had committed -#}
        {%- endif -%}
        {%- do log(entity.name ~ ': nothing is left to load', info=true) -%}
        {{ return('') }}
    {%- endif -%}
    {%- set range_text = spark_cdc._time_text(entity, todo[0]) ~ ('..' ~ spark_cdc._time_text(entity, todo[-1]) if todo | length > 1) -%}
    {%- set planned = [] -%}
    {%- for time in todo -%}{%- do planned.append(spark_cdc._load_id(entity, time, true)) -%}{%- endfor -%}
    {%- set excess = spark_cdc._manifest_text_excess(entity, spark_cdc._committed_sql(
        entity, capture.masked, dict(head, loads=head.loads + planned, commit=spark_cdc._attempt()))) -%}
    {%- if excess -%}{%- do exceptions.raise_compiler_error(excess ~ ' Or backfill fewer dates, then compact, then the rest.') -%}{%- endif -%}

    {%- set at = namespace(manifest=head, done=[]) -%}
    {%- for some in todo[:-1] | batch(dates_per_statement) | list + [todo[-1:]] if some -%}
        {%- set written = spark_cdc._backfill_dates(dict(capture, manifest=at.manifest, backfill=range_text), some, at.done) -%}
        {%- set at.manifest = written.manifest -%}
        {%- set at.done = at.done + written.loads -%}
        {%- do log(entity.name ~ ': ' ~ at.done | length ~ ' of ' ~ spark_cdc._counted(todo | length, 'date') ~ ' written, up to '
            ~ spark_cdc._time_text(entity, some[-1]), info=true) -%}
    {%- endfor -%}

    {%- if 'move' in head -%}
        {%- do spark_cdc._record_missing_loads(capture, head) -%}  {#- while the manifest still names it -#}
    {%- endif -%}
    {%- do spark_cdc._commit_audited_load(dict(capture, manifest=head), at.manifest, 'the backfill of ' ~ range_text, at.done) -%}
    {%- set sums = {} -%}
    {%- for operation in 'IUDNX' -%}
        {%- do sums.update({operation: at.done | map(attribute='audit.counts.' ~ operation) | sum}) -%}
    {%- endfor -%}
    {%- do log(entity.name ~ ' ' ~ range_text ~ ': ' ~ spark_cdc._counted(todo | length, 'date') ~ ' committed, ' ~ at.done | map(attribute='audit.rows_in') | sum
        ~ ' rows in, I ' ~ sums.I ~ ', U ' ~ sums.U ~ ', D ' ~ sums.D ~ ', N ' ~ sums.N ~ ', X ' ~ sums.X ~ '; ' ~ at.manifest.rows
        ~ ' rows now', info=true) -%}
{%- endmacro -%}


{#- Those of some times of which something has landed. Others are refused, all at once, unless they are to be left out, or the entity takes no files for
    an empty input. -#}
{%- macro _backfill_landed(entity, times, skip_missing) -%}
    {%- if entity.source.on_no_files == 'empty' and not skip_missing -%}{{ return(times) }}{%- endif -%}
    {%- set landed, missing = [], [] -%}
    {%- if entity.source.format == 'table' and times -%}
        {%- set landing = spark_cdc._landing_source(entity) -%}
        {%- set read, found = spark_cdc._date_column_found(entity, landing), [] -%}
        {%- set refusal = spark_cdc._check_date_column(read, landing) -%}
        {%- if refusal -%}{%- do exceptions.raise_compiler_error(refusal.message) -%}{%- endif -%}
        {%- set sql -%}
select distinct {{ spark_cdc._date_column_text(read) }} as time
from {{ landing }}
where
    {{ spark_cdc._date_column_value(read) }} >= {{ spark_cdc._date_column_literal(read, times[0]) }}
    and {{ spark_cdc._date_column_value(read) }} < {{ spark_cdc._date_column_literal(read, spark_cdc._date_column_next(read, times[-1])) }}
        {%- endset -%}
        {%- for row in spark_cdc._query(sql) -%}{%- do found.append(spark_cdc._business_time(row.time)) -%}{%- endfor -%}
        {%- do landed.extend(times | select('in', found)) -%}
        {%- do missing.extend(times | reject('in', found)) -%}
    {%- else -%}
        {%- set files = spark_cdc._dates_files(entity, times) -%}
        {%- for time in times -%}
            {%- set is_there = files and files[loop.index0].files or spark_cdc._found_by_pattern(entity, time).is_there -%}
            {%- do (landed if is_there else missing).append(time) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- set texts = [] -%}
    {%- for time in missing -%}{%- do texts.append(spark_cdc._time_text(entity, time)) -%}{%- endfor -%}
    {%- set listed = texts[:5] | join(', ') ~ (' and ' ~ (texts | length - 5) ~ ' more' if texts | length > 5 else '') -%}
    {%- if missing and not skip_missing -%}
        {%- set message -%}
{{ entity.name }}: nothing has landed of {{ spark_cdc._counted(missing | length, 'date') }} of {{ times | length }}: {{ listed }} ({# -#}
{{ spark_cdc._landing_input(entity, spark_cdc._landing_source(entity), missing[0]) }}). Nothing was written. Deliver them, correct source.path, or leave {# -#}
them out with --skip-missing (skip_missing: true).
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- elif missing -%}
        {%- do log(entity.name ~ ': nothing has landed of ' ~ listed ~ ': left out', info=true) -%}
    {%- endif -%}
    {{ return(landed) }}
{%- endmacro -%}
