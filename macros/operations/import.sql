{#- Takes over a history that another tool has kept: intervals become inserts, updates and deletes
    of loads at their business times, written by one statement and committed together. Of a Delta
    or Iceberg table each version that it still keeps becomes a full load. The entity must have no
    loads yet; the next load builds on what was imported (docs/import.md).
        dbt run-operation spark_cdc.import_history --args '{entity: orders,
        source: snapshots.orders_snapshot, format: dbt_snapshot}'
    Arguments: entity (its name), source (table or view), format (dbt_snapshot, scd2, satellite or
    time_travel), valid_from and valid_to (columns; none: the format's own), is_current (column
    that marks open intervals), deleted_when (condition or boolean column of rows that stand for a
    delete), open_end (the date that means an open end, beside null), inclusive_end (whether the
    end is the last business time of an interval), ignore (columns to leave out), execute (whether
    it is done; else the history is only read, compared and audited). Returns nothing. -#}
{%- macro import_history(entity, source, format, valid_from=none, valid_to=none, is_current=none, deleted_when=none, open_end=none,
        inclusive_end=false, ignore=none, execute=true) -%}
    {%- set options = {
        'valid_from': valid_from, 'valid_to': valid_to, 'is_current': is_current, 'deleted_when': deleted_when, 'open_end': open_end,
        'inclusive_end': inclusive_end, 'ignore': ignore,
    } -%}
    {%- do spark_cdc._check_arguments('import_history', dict(options, entity=entity, source=source, format=format, execute=execute)) -%}
    {%- set ctx = spark_cdc._contexts('import_history', entity)[0] -%}
    {%- set is_begun = spark_cdc._has_schema(ctx.schema) -%}
    {%- set timeline = spark_cdc._current_timeline(ctx) if is_begun else spark_cdc._empty_manifest() -%}
    {%- do spark_cdc._stop('import_history', spark_cdc._import_problems(ctx, timeline, source, format, options), 'Nothing was written.') -%}
    {%- set parts = [] -%}
    {%- for part in source.split('.') -%}{%- do parts.append(spark_cdc._quote(part)) -%}{%- endfor -%}
    {%- set table = parts | join('.') -%}
    {%- set words = spark_cdc._plan_refusal(spark_cdc._plan('select * from ' ~ table)) -%}
    {%- do spark_cdc._stop('import_history', ['the table ' ~ source ~ " can't be read (" ~ words ~ ')'] if words else [],
        'Correct --from (source). Nothing was written.', ctx.entity) -%}
    {%- do spark_cdc._set_for_staging() -%}
    {%- set command = spark_cdc._import_command(entity, source, format, options) -%}
    {%- set history = dict({'table': table, 'format': format, 'is_intervals': format != 'time_travel', 'command': command}, **options) -%}
    {%- set read = (spark_cdc._read_intervals if history.is_intervals else spark_cdc._read_versions)(ctx, history) -%}
    {%- do spark_cdc._import(dict(ctx, entity=read.entity, history=read.history), timeline) -%}
{%- endmacro -%}


{#- What keeps a history from being imported, as far as nothing was read of it. Returns a list of
    texts. -#}
{%- macro _import_problems(ctx, timeline, source, format, options) -%}
    {%- set entity, formats = ctx.entity, ['dbt_snapshot', 'scd2', 'satellite', 'time_travel'] -%}
    {%- set given = [] -%}
    {%- for name, value in options.items() if value not in [none, false, []] and format == 'time_travel' and name != 'ignore' -%}
        {%- do given.append(name) -%}
    {%- endfor -%}
    {%- set has_form = spark_cdc._has_form(source, 'table') or spark_cdc._has_form(source, 'name') -%}
    {%- set loads = timeline.loads | length -%}
    {{ return(spark_cdc._failed_rules({
        'name': entity.name, 'format': format, 'formats': formats | join(', '), 'source': source, 'given': given | join(', '), 'open_end': options.open_end,
        'loads': spark_cdc._counted(loads, 'load'), 'last': spark_cdc._load_time_text(entity, timeline.loads[-1]) if loads else '',
    }, [
        (format not in formats, "format is '%(format)s'; accepted are %(formats)s"),
        (not has_form, "source is '%(source)s'; accepted is the name of a table or view, such as snapshots.orders_snapshot"),
        (given | length > 0, 'format time_travel has versions and no intervals, so that %(given)s can not be given'),
        (options.open_end is not none and spark_cdc._business_time(options.open_end) is none,
         "open_end is '%(open_end)s'; accepted is a date such as 9999-12-31, with or without a time of day"),
        (entity.events is not none,
         '%(name)s takes change events, whose rows have positions that a history lacks; accepted are the load types full and delta'),
        (entity.keyless, '%(name)s is keyless, and rows without a key have no history: give the columns that identify a row the role key'),
        (not spark_cdc._is_plainly_staged(entity.name),
         'stg_%(name)s is more than spark_cdc.stage(), which is all that an import reads; import what its model selects from a view'),
        (loads > 0,
         '%(name)s has %(loads)s already, up to %(last)s, and a history can only come before all loads. To load what came since: '
         'spark-cdc load %(name)s. To begin with the history, give it an entity of its own: spark-cdc new'),
    ])) }}
{%- endmacro -%}


{#- The command as it was typed, for messages and the records of the loads. -#}
{%- macro _import_command(entity, source, format, options) -%}
    {%- set words = ['spark-cdc import', entity, '--from', source, '--format', format] -%}
    {%- for name, value in options.items() if value not in [none, false, []] -%}
        {%- do words.append('--' ~ name.replace('_', '-')) -%}
        {%- for one in (spark_cdc._names(value) if value is not boolean else []) -%}
            {%- do words.append('"' ~ one ~ '"' if one != one.split() | join or "'" in one else one) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(words | join(' ')) }}
{%- endmacro -%}


{#- Loads a history of which is known what it holds. Argument: ctx (with history: times, in order;
    note, what is said of it, or none). -#}
{%- macro _import(ctx, timeline) -%}
    {%- set entity, history, is_plan = ctx.entity, ctx.history, spark_cdc._mode() == 'plan' -%}
    {%- set times = history.times -%}
    {%- do spark_cdc._stop('import_history', [] if times else [history.table ~ ' has no rows'],
        'There is nothing to import.', entity) -%}
    {%- for schema in [ctx.schema, ctx.ledger.schema] | unique -%}
        {%- do spark_cdc._make_schema(schema) -%}
    {%- endfor -%}
    {%- do spark_cdc._ensure_load_log(ctx.load_log) -%}
    {%- do spark_cdc._check_manifest_of(ctx, timeline, times,
        'An import needs room for all of its ' ~ spark_cdc._counted(times | length, 'business date')
        ~ ': there is nothing to merge yet. Loads per date (business_date_type: date) are fewer than loads per second.') -%}
    {%- if history.note -%}{%- do log(entity.name ~ ': ' ~ history.note, info=true) -%}{%- endif -%}
    {%- set batches = [times] if history.is_intervals else [times[:60]] if is_plan else times[:-1] | batch(60) | list + [times[-1:]] -%}
    {%- set range_text = spark_cdc._time_text(entity, times[0]) ~ ('..' ~ spark_cdc._time_text(entity, times[-1]) if times | length > 1) -%}
    {%- do spark_cdc._load_dates(ctx, timeline, batches, times | length, range_text) -%}
{%- endmacro -%}


{#- Writes and audits the loads of some times of a history, as _backfill_dates() does. The last load
    of intervals is a checkpoint: it is written with all others. -#}
{%- macro _import_dates(run, times, done) -%}
    {%- set loads, history = spark_cdc._backfill_plans(run, times), run.history -%}
    {%- if history.is_intervals and loads | length > 1 -%}
        {%- set loads = loads[:-1] + [dict(loads[-1], is_checkpoint=true, load_id=spark_cdc._load_id(run.entity, times[-1], true))] -%}
    {%- endif -%}
    {%- set incoming = history.incoming if history.is_intervals else spark_cdc._incoming_versions(run, times) -%}
    {%- set batch = dict(history, batch=loads | map(attribute='business_time') | list) -%}
    {{ return(spark_cdc._write_dates(dict(run, history=batch), loads, incoming, [], [], done)) }}
{%- endmacro -%}


{#- How many rows each of some loads has to have, asked of the history after they were written. A
    list of dictionaries by load: records. -#}
{%- macro _import_inputs(run, loads) -%}
    {%- set history, counts, inputs = run.history, {}, [] -%}
    {%- for row in spark_cdc._query(spark_cdc._interval_counts_sql(history) if history.is_intervals
            else spark_cdc._version_counts_sql(run, loads | map(attribute='business_time') | list)) -%}
        {%- do counts.update({row.business_time: row.row_count | int}) -%}
    {%- endfor -%}
    {%- for load in loads -%}{%- do inputs.append({'records': counts.pop(load.business_time, 0)}) -%}{%- endfor -%}
    {%- if counts -%}
        {%- set message -%}
{{ run.entity.name }}: {{ history.table }} changed while it was read: {{ spark_cdc._some_of(counts | list) }} came. Nothing was committed. {# -#}
Run the same command again:
  {{ history.command }}
        {%- endset -%}
        {%- do spark_cdc._refuse_load(run.entity, 'input_changed', message, loads[0]) -%}
    {%- endif -%}
    {{ return(inputs) }}
{%- endmacro -%}


{#- The entity as its history is read: a typed table, without the control columns that it lacks.
    Its guards on what a load changes are off: the past is as it is. A column that has the declared
    type needs none of the settings for values in files. Arguments: ctx, table, load_type (of the
    loads), found (columns of the history). Returns a dictionary: entity, deleted_when (its own, if
    the history has the columns for it). -#}
{%- macro _imported_entity(ctx, table, load_type, found) -%}
    {%- set node, types = spark_cdc._needed_node(ctx.node), {} -%}
    {%- for column in found -%}{%- do types.update({column.col_name | lower: column.data_type | lower}) -%}{%- endfor -%}
    {%- set settings, plain = dict(spark_cdc._settings_of(node)), ['format', 'encoding', 'century', 'decimal', 'grouping', 'trailing_sign'] -%}
    {%- set declared = ctx.entity.source -%}
    {%- set is_text = declared.text and not types.values() | reject('equalto', 'string') | list -%}
    {%- do settings.update({'load_type': load_type, 'sources': none, 'source': {
        'format': 'table', 'text': is_text,
        'on_missing_column': declared.on_missing_column, 'on_unexpected_column': 'ignore' if declared.on_unexpected_column == 'ignore' else 'error',
    }}) -%}
    {%- set columns, lacks = [], [] -%}
    {%- for column in spark_cdc._columns_of(node) -%}
        {%- set meta = column.meta -%}
        {%- set name = declared.columns.get(column['name']) or meta.get('from') or column['name'] -%}
        {%- if meta.get('role') == 'control' and name | lower not in types -%}
            {%- do lacks.append(name) -%}
        {%- else -%}
            {%- set is_as_declared = not is_text and types.get(name | lower) == spark_cdc._declared_type(column.get('data_type') or '') | lower -%}
            {%- set kept = dict(meta.items() | rejectattr(0, 'in', plain)) if is_as_declared else meta -%}
            {#- a history has the names of the source, or those of the YAML -#}
            {%- set is_renamed = name | lower not in types and column['name'] | lower in types -%}
            {%- do columns.append(dict(column, meta=dict(kept, **{'from': column['name'] if is_renamed else name}))) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set entity = spark_cdc._completed_entity(ctx.entity.name, dict(node, meta={'spark_cdc': settings}, columns=columns), true) -%}
    {%- set off = dict.fromkeys(['empty', 'deleted_share', 'updated_share', 'inserted_share', 'rows_band']) -%}
    {%- set imported = dict(
        entity, source=dict(entity.source, history=table), guards=dict(entity.guards, **off), quarantine=[], deleted_when=none) -%}
    {{ return({'entity': imported, 'deleted_when': none if lacks else entity.deleted_when}) }}
{%- endmacro -%}


{#- Makes landed_<entity> of the view landed_<entity>_files, whose columns are compared with the
    declared ones. Arguments: entity, history, own (names of the columns that are ours). -#}
{%- macro _land_history(entity, history, own) -%}
    {%- set read, found, ours = spark_cdc._found_as_read(entity, none, []).found, [], [] -%}
    {%- for column in read -%}{%- do (ours if column.col_name in own else found).append(column) -%}{%- endfor -%}
    {%- set refusal = spark_cdc._check_columns(entity, spark_cdc._landing_input(entity, none, none), found) -%}
    {%- if refusal -%}
        {%- do exceptions.raise_compiler_error(refusal.message ~ '\nTo leave out columns of the history, name them:\n  '
            ~ history.command ~ ' --ignore COLUMN …') -%}
    {%- endif -%}
    {%- do spark_cdc._send(spark_cdc._landed_view_sql(entity, [], found + ours)) -%}
{%- endmacro -%}
