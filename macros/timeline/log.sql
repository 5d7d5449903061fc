{#- The model cdc_loads: one row per entity and load, for people and audits. Loads add their rows
    themselves; the model makes sure that the table is there. Returns its columns as a query
    without rows. -#}
{%- macro load_log() -%}
    {{- config(materialized='cdc_load_log') -}}
select
    {%- for name, data_type in spark_cdc._load_log_columns().items() %}
    cast(null as {{ data_type }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
where false
{%- endmacro -%}


{#- When the last load of an entity was committed, as a query for dbt source freshness; null where
    there is none. Argument: entity (its name). -#}
{%- macro last_load(entity) -%}
select max(coalesce(committed_at, started_at)) as loaded_at
from {{ spark_cdc._load_log() }}
where entity = {{ spark_cdc._literal(entity) }} and status = 'committed' and load_type <> 'compact'
{%- endmacro -%}


{#- The relation of cdc_loads; none where the project has no such model. Models do not depend on
    it, so that it is no ancestor of every view in the lineage. -#}
{%- macro _load_log() -%}
    {%- set node = (graph.nodes | default({})).get('model.spark_cdc.cdc_loads') -%}
    {{ return(spark_cdc._relation_in(node.schema, node.alias) if node else none) }}
{%- endmacro -%}


{#- The cdc_loads that belongs to the <entity>_committed of a data test. With dbt's --defer,
    ref() may name that of another environment, while the entity is one of this. Arguments:
    committed (relation), name (of the entity), referred (what ref() says). -#}
{%- macro _load_log_beside(committed, name, referred) -%}
    {%- for node in (graph.nodes | default({})).values() if node.name == name ~ '_committed' and node.schema == committed.schema -%}
        {{ return(spark_cdc._unsampled(spark_cdc._load_log())) }}
    {%- endfor -%}
    {{ return(spark_cdc._unsampled(referred)) }}
{%- endmacro -%}


{#- Its columns and their types; the last three are its partitions. -#}
{%- macro _load_log_columns() -%}
    {{ return({
        'business_time': 'string', 'load_type': 'string', 'is_checkpoint': 'boolean',
        'parent_load_id': 'string', 'replaced_load_ids': 'string', 'input': 'string',
        'rows_in': 'bigint', 'rows_rejected': 'bigint', 'rows_inserted': 'bigint', 'rows_updated': 'bigint', 'rows_deleted': 'bigint',
        'rows_unchanged': 'bigint', 'rows_not_supplied': 'bigint', 'rows_prior': 'bigint', 'rows_current': 'bigint',
        'started_at': 'timestamp', 'committed_at': 'timestamp', 'duration_seconds': 'double',
        'invocation_id': 'string', 'dbt_version': 'string', 'spark_version': 'string', 'spark_cdc_version': 'string',
        'events_late': 'bigint', 'events_control': 'bigint', 'events_unexpected': 'bigint',
        'guard': 'string', 'message': 'string', 'definition_change': 'string',
        'input_files': 'bigint', 'input_bytes': 'bigint',
        'rules': 'array<struct<rule: string, action: string, judged: bigint, broken: bigint>>',
        'events_unfilled': 'bigint',
        'entity': 'string', 'load_id': 'string', 'status': 'string',
    }) }}
{%- endmacro -%}


{%- macro _create_load_log_sql(load_log) -%}
    {%- set columns = [] -%}
    {%- for name, data_type in spark_cdc._load_log_columns().items() -%}
        {%- do columns.append({'at_sql': name, 'data_type': data_type}) -%}
    {%- endfor -%}
    {{ return(spark_cdc._create_table_sql(load_log, columns, spark_cdc._load_log_format(), spark_cdc._partition_names(load_log))) }}
{%- endmacro -%}


{#- Its format: entities write it side by side, and writers of a table format would get into each
    other's way; Delta's do not, if each names its own partitions. -#}
{%- macro _load_log_format() -%}
    {%- set file_format = spark_cdc._file_format_of_vars() -%}
    {{ return(spark_cdc._format_here(spark_cdc._plain_format() if spark_cdc._table_facts(file_format).has_log else file_format)) }}
{%- endmacro -%}


{#- Creates cdc_loads where it is not there, and adds columns that it lacks: dbt's look at the
    catalogue knows them. -#}
{%- macro _ensure_load_log(load_log) -%}
    {%- set existing, columns = spark_cdc._known(load_log), spark_cdc._load_log_columns() -%}
    {%- if existing is none -%}
        {#- it may have one of its own -#}
        {%- do spark_cdc._make_schema(load_log.schema) -%}
        {%- do spark_cdc._send(spark_cdc._create_load_log_sql(load_log)) -%}
        {#- for data tests of the same run -#}
        {%- do spark_cdc._note_relation(load_log, 'table', 'Provider: ' ~ spark_cdc._load_log_format()) -%}
    {%- elif columns | reject('in', (existing.information or '').replace('|-- ', '\n').replace(': ', '\n ').split('\n')) | list -%}
        {%- set own, new = spark_cdc._write_target(load_log), [] -%}
        {%- set found = adapter.get_columns_in_relation(own) | map(attribute='name') | list -%}
        {%- for name, data_type in columns.items() if name not in found -%}{%- do new.append(name ~ ' ' ~ data_type) -%}{%- endfor -%}
        {%- if new -%}
            {%- do spark_cdc._add_columns(own, new) -%}
            {%- if own != load_log -%}{%- do spark_cdc._show_branch_columns(load_log, own) -%}{%- endif -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro -%}


{#- The only writer of cdc_loads: a row per load or operation, 50 of them by one statement, into
    partitions of their own, so that it gives the same when it is sent twice. Loads that the rows
    replace are marked first. Arguments: load_log (that is written), entity, rows (dictionaries):
        load     of _plan_load(), or its record in the ledger
        audit    of _audit_load(); of a refused load as far as it is known
        now      whether it is committed at this moment; else its record knows when, or nobody. True
                 if it is left out
        refusal  guard and message of a refused load
    gone (loads that can't come back, although no row replaces them), copies (a statement that
    copies rows, sent before the others). -#}
{%- macro _write_log(load_log, entity, rows, gone=[], copies=none) -%}
    {%- if rows or copies -%}{%- do spark_cdc._set_overwrite(load_log) -%}{%- endif -%}
    {%- if copies -%}{%- do spark_cdc._send(copies) -%}{%- endif -%}
    {%- set replaced = gone | list -%}
    {#- what compact merged counts as before, and what undo took back may come again -#}
    {%- for row in rows if row.get('refusal') is none and row.load.load_type not in ['compact', 'undo', 'redo'] -%}
        {%- do replaced.extend(row.load.get('replaced') or []) -%}
    {%- endfor -%}
    {%- do spark_cdc._set_load_status(load_log, 'committed', 'replaced', entity.name, replaced | unique | list) -%}
    {%- for some in rows | batch(50) -%}{%- do spark_cdc._send(spark_cdc._log_rows_sql(load_log, entity, some)) -%}{%- endfor -%}
{%- endmacro -%}


{%- macro _log_rows_sql(load_log, entity, rows) -%}
    {%- set by_status, parts = {}, [] -%}
    {%- for row in rows -%}
        {%- do by_status.setdefault('refused' if row.get('refusal') else row.load.get('status', 'committed'), []).append(row.load.load_id) -%}
    {%- endfor -%}
    {%- for status, loads in by_status.items() -%}{%- do parts.append("status = '" ~ status ~ "' and " ~ spark_cdc._in_loads(loads)) -%}{%- endfor -%}
    {%- set where = "entity = '" ~ entity.name ~ "' and (" ~ parts | join(' or ') ~ ')' -%}
    {{ return(spark_cdc._overwrite_by_name_sql(load_log, where, spark_cdc._log_rows_query(entity, rows))) }}
{%- endmacro -%}


{%- macro _log_rows_query(entity, rows) -%}
{{ 'select /*+ coalesce(1) */ *\nfrom (\n' if rows | length > 1 }}
{%- for row in rows -%}
{%- set load, audit, refusal = row.load, row.audit, row.get('refusal') -%}
{%- set record = audit.get('record') or {} -%}
{%- set counts = audit.get('counts') or {} -%}
{%- set events = record.get('events') or {} -%}
{%- set files = audit.get('files') or record.get('files') or {'files': none, 'bytes': none} -%}
{%- set started_at = "timestamp'" ~ record.started_at ~ " UTC'" if record.get('started_at') else 'current_timestamp()' -%}
{%- set is_done = row.get('now', true) and refusal is none -%}
{%- set known_at = "timestamp'" ~ record.committed_at ~ " UTC'" if record.get('committed_at') else none -%}
{%- set committed_at = 'current_timestamp()' if is_done else known_at -%}
{%- set skipped = (record.get('files') or {}).get('skipped') -%}
{%- set message = refusal.message if refusal else load.get('message') or spark_cdc._snapshot_message(entity, load, counts) -%}
{%- set message = [message, skipped] | select | join('; ') if skipped else message -%}
{%- set values = {
    'business_time': spark_cdc._literal(load.business_time),
    'load_type': spark_cdc._literal(load.load_type),
    'is_checkpoint': load.is_checkpoint | string | lower,
    'parent_load_id': spark_cdc._literal(load.parent) if load.parent else 'null',
    'replaced_load_ids': spark_cdc._literal(load.replaced | join(', ')) if load.replaced and refusal is none else 'null',
    'input': 'null' if load.get('status')
        else spark_cdc._literal(spark_cdc._landing_input(
            spark_cdc._entity_of_change_feed(entity, record.get('feed')), spark_cdc._landing_source(entity), spark_cdc._load_time(load.load_id))),
    'input_files': files.files, 'input_bytes': files.bytes,
    'rows_in': audit.get('rows_in'), 'rows_rejected': counts.get('R'),
    'rows_inserted': counts.get('I'), 'rows_updated': counts.get('U'), 'rows_deleted': counts.get('D'),
    'rows_unchanged': counts.get('N'), 'rows_not_supplied': counts.get('X'),
    'rows_prior': audit.get('rows_prior'), 'rows_current': audit.get('rows_current'),
    'started_at': started_at,
    'committed_at': committed_at or 'null',
    'duration_seconds': '(unix_micros(' ~ committed_at ~ ') - unix_micros(' ~ started_at ~ ')) / cast(1000000 as double)' if committed_at else 'null',
    'invocation_id': spark_cdc._literal(record.get('invocation_id') or invocation_id),
    'dbt_version': spark_cdc._literal(record.get('dbt_version') or dbt_version),
    'spark_version': 'version()',
    'spark_cdc_version': spark_cdc._literal(record.get('spark_cdc_version') or spark_cdc._version()),
    'events_late': events.get('late'), 'events_control': events.get('controls'), 'events_unexpected': events.get('unexpected'), 'events_unfilled': events.get('unfilled'),
    'status': spark_cdc._literal('refused' if refusal else load.get('status', 'committed')),
    'guard': spark_cdc._literal(refusal.guard) if refusal else 'null',
    'message': spark_cdc._literal(message[:4000]) if message else 'null',
    'definition_change': spark_cdc._literal(record.definition_change) if record.get('definition_change') else 'null',
    'rules': 'from_json(' ~ spark_cdc._literal(tojson(audit.rules)) ~ ', ' ~ spark_cdc._literal(spark_cdc._load_log_columns().rules) ~ ')'
        if audit.get('rules') else none,
    'entity': spark_cdc._literal(entity.name),
    'load_id': spark_cdc._literal(load.load_id),
} -%}
select
    {%- for name, data_type in spark_cdc._load_log_columns().items() %}
    cast({{ 'null' if values[name] is none else values[name] }} as {{ data_type }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}{{ '\n\nunion all\n\n' if not loop.last }}
{%- endfor -%}
{{ '\n) as loads' if rows | length > 1 }}
{%- endmacro -%}


{#- The rows that cdc_loads lacks of a manifest's loads, and of its undo or redo, with figures
    from the ledger. Arguments: ctx, manifest, now (of _write_log()). -#}
{%- macro _missing_rows(ctx, manifest, now=false) -%}
    {%- set entity, rows = ctx.entity, [] -%}
    {%- set found, stale = spark_cdc._partitions_by_load(ctx.write.load_log, entity.name), [] -%}
    {#- a row that a crash left under its old status too (see _set_load_status()) -#}
    {%- for partitions in found.values() if partitions | length > 1 -%}
        {%- for one in partitions if one.split('=')[-1] in ['committed', 'refused'] -%}{%- do stale.append(one) -%}{%- endfor -%}
    {%- endfor -%}
    {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(ctx.write.load_log, stale)) if stale -%}
    {%- set known = found | list -%}
    {#- of a branch: production has rows, too -#}
    {%- if ctx.write.load_log != ctx.load_log -%}
        {%- set origin = spark_cdc._branch_origin(spark_cdc._view_text(ctx.load_log)) -%}
        {%- do known.extend(spark_cdc._partitions_by_load(spark_cdc._relation_in(origin.of.schema, origin.of.name), entity.name)) -%}
    {%- endif -%}
    {%- if 'move' in manifest and manifest.move.load_id not in known -%}{%- do rows.append(dict(spark_cdc._undo_redo_row(ctx, manifest), now=now)) -%}{%- endif -%}
    {%- set missing = manifest.loads | reject('in', known) | list -%}
    {%- if not missing -%}{{ return(rows) }}{%- endif -%}
    {%- set rules_sql = spark_cdc._rule_counts_sql(entity, ctx.public, missing) -%}
    {%- set counted = spark_cdc._load_counts(ctx.public, missing, missing, [rules_sql]) -%}
    {%- for entry in manifest.entries if entry.load_id in missing -%}
        {%- set load_id, record = entry.load_id, counted.records.get(entry.load_id) -%}
        {%- if not record -%}
            {%- do log(entity.name ~ ': load ' ~ load_id ~ ' stays out of cdc_loads: its record in the ledger (operation L) is gone or cannot be read; '
                ~ 'spark-cdc verify tells more', info=true) -%}
        {%- else -%}
            {%- set prior = spark_cdc._timeline_cut(manifest, manifest.loads.index(load_id)).rows -%}
            {%- set figures = spark_cdc._figures_of_load(load_id, counted.rows.get(load_id, {}), prior, record) -%}
            {%- set rules = spark_cdc._rule_counts_of_load(entity, figures.counts, counted.rules.get(load_id)) -%}
            {%- do rows.append({'load': record, 'audit': dict(figures, rules=rules), 'now': now}) -%}
            {%- if not now -%}{%- do log(entity.name ~ ': adding load ' ~ load_id ~ ' to cdc_loads, which lacks it', info=true) -%}{%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(rows) }}
{%- endmacro -%}


{#- The row of cdc_loads of an operation. Arguments: manifest (after it), load (load_id,
    load_type, status, message; replaced, if there are such loads), audit (figures that are not
    the manifest's). -#}
{%- macro _operation_row(ctx, manifest, load, audit={}) -%}
    {{ return({
        'load': dict({
            'business_time': spark_cdc._load_time_text(ctx.entity, load.load_id),
            'is_checkpoint': false,
            'parent': ([none] + manifest.loads) | last,
            'replaced': [],
        }, **load),
        'audit': dict({'rows_prior': manifest.rows, 'rows_current': manifest.rows}, **audit),
    }) }}
{%- endmacro -%}


{#- That of an undo or redo: those of the loads stay as they are. Argument: manifest (with move,
    see undo()). -#}
{%- macro _undo_redo_row(ctx, manifest) -%}
    {%- set move, is_undo = manifest.move, '-u-' in manifest.move.load_id -%}
    {#- where its run was killed, another one adds the row -#}
    {%- set commits = manifest.entries | selectattr('load_id', 'in', move.loads) | map(attribute='commit') | map('string') | list -%}
    {%- set record = {
        'started_at': move.at,
        'committed_at': manifest.times.get('rewritten' if is_undo else commits | last),
        'invocation_id': move.get('invocation_id'),
    } -%}
    {{ return(spark_cdc._operation_row(ctx, manifest, {
        'load_id': move.load_id,
        'load_type': 'undo' if is_undo else 'redo',
        'replaced': move.loads if is_undo else [],
        'status': 'undone' if is_undo else 'redone',
        'message': ('took back ' if is_undo else 'brought back ') ~ move.loads | join(', '),
    }, {'rows_prior': move.rows_prior, 'record': record})) }}
{%- endmacro -%}


{#- Changes the status of rows of cdc_loads. Files that are there stay as they are while somebody
    may read them: the rows are written into partitions of the new status, and those of the old
    one are dropped. Each statement gives the same when it is sent twice; what a crash in between
    leaves twice, the entity's next run drops (_missing_rows()). Arguments: load_log
    (that is written), held (the status that changes), status, entity (name), loads (their ids). -#}
{%- macro _set_load_status(load_log, held, status, entity, loads) -%}
    {#- of a branch the view, which shows production's rows, too -#}
    {%- set is_of_branch = load_log.identifier.endswith('_own') -%}
    {%- set known = spark_cdc._relation_in(load_log.schema, load_log.identifier.removesuffix('_own')) -%}
    {%- set gone = [] -%}
    {%- for load_id, partitions in (spark_cdc._partitions_by_load(load_log, entity) if loads else {}).items() if load_id in loads -%}
        {%- do gone.extend(partitions | select('in', ['entity=' ~ entity ~ '/load_id=' ~ load_id ~ '/status=' ~ held])) -%}
    {%- endfor -%}
    {%- if not loads or not (gone or is_of_branch) -%}{{ return('') }}{%- endif -%}
    {%- set where = "entity = '" ~ entity ~ "' and status = '" ~ status ~ "' and " ~ spark_cdc._in_loads(loads) -%}
    {%- set sql -%}
select /*+ coalesce(1) */
    {{ spark_cdc._load_log_columns() | reject('equalto', 'status') | join(',\n    ') }},
    {{ spark_cdc._literal(status) }} as status
from {{ known }}
where entity = {{ spark_cdc._literal(entity) }} and {{ spark_cdc._in_loads(loads) }} and status = {{ spark_cdc._literal(held) }}
    {%- endset -%}
    {%- do spark_cdc._set_overwrite(load_log) -%}
    {%- do spark_cdc._send(spark_cdc._overwrite_by_name_sql(load_log, where, sql)) -%}
    {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(load_log, gone)) if gone -%}
{%- endmacro -%}


{#- What a full snapshot among loads of another type found, as cdc_loads tells it: how far what
    those led to had drifted from it. Arguments: entity, load, counts (operation to rows).
    Returns a text, or none of other loads. -#}
{%- macro _snapshot_message(entity, load, counts) -%}
    {%- if load.get('status') or load.load_type != 'full' or entity.declared_load_type == 'full' or load.parent is none or not counts -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set differing = counts.I + counts.U + counts.D -%}
    {%- set message -%}
the snapshot differed in {{ spark_cdc._counted(differing, 'row') }} from what the loads of type {{ entity.declared_load_type }} had led to
{%- if differing -%}
: {{ counts.I }} were missing, {{ counts.U }} had other values, {{ counts.D }} should not have been there
{%- endif -%}
    {%- endset -%}
    {{ return(message) }}
{%- endmacro -%}


{#- Lets the view of a branch show the columns that its own table has by now. -#}
{%- macro _show_branch_columns(view, own) -%}
    {%- set origin = spark_cdc._branch_origin(spark_cdc._view_text(view)) -%}
    {%- do spark_cdc._send(spark_cdc._replace_view_sql(view, spark_cdc._branch_table_text(view, origin, adapter.get_columns_in_relation(own)), true)) -%}
{%- endmacro -%}


{#- The name of a load: business date or time, kind, and eight characters of dbt's invocation id,
    which make it unique to the attempt. The kind is f (full), d (delta), e (events) or s (a full
    snapshot among events), with a c behind it if the load is a checkpoint; h and hc are what
    compact wrote. Names sort by business time. Example: 20190619-fc-1b2c3d4e. -#}
{%- macro _load_id(entity, time, is_checkpoint) -%}
    {%- set clock = time.strftime('T%H%M%S') -%}
    {%- set stamp = time.strftime('%Y%m%d') ~ ('' if clock == 'T000000' else clock) -%}
    {{ return(stamp ~ '-' ~ ('s' if entity.events and entity.load_type == 'full' else entity.load_type[0]) ~ ('c' if is_checkpoint else '') ~ '-' ~ spark_cdc._run_id8()) }}
{%- endmacro -%}


{#- What loads say of themselves in the ledger (their L rows): a dictionary by load id. -#}
{%- macro _load_records(ledger, loads) -%}
    {%- set sql -%}
select
    load_id,
    cdc__note as note
from {{ ledger }}
where
    {{ spark_cdc._in_loads(loads) }}
    and operation = 'L'
    {%- endset -%}
    {%- set records = {} -%}
    {%- for row in (spark_cdc._query(sql) if loads else []) -%}{%- do records.update({row.load_id: fromjson(row.note)}) -%}{%- endfor -%}
    {{ return(records) }}
{%- endmacro -%}


{#- The same as text, as messages and commands have it. -#}
{%- macro _load_time_text(entity, load_id) -%}{{ return(spark_cdc._time_text(entity, spark_cdc._load_time(load_id))) }}{%- endmacro -%}


{#- The business times of loads, as texts. -#}
{%- macro _load_times(entity, loads) -%}
    {%- set times = [] -%}
    {%- for load_id in loads -%}{%- do times.append(spark_cdc._load_time_text(entity, load_id)) -%}{%- endfor -%}
    {{ return(times) }}
{%- endmacro -%}


{#- The business time in a load's name, as an expression of the type of eff_start_date. -#}
{%- macro _load_time_sql(entity, name) -%}
    {%- if entity.eff_type == 'date' -%}
        {{ return('to_date(substr(' ~ name ~ ", 1, 8), 'yyyyMMdd')") }}
    {%- endif -%}
    {%- set stamp = "replace(rpad(split_part(" ~ name ~ ", '-', 1), 15, 'T000000'), 'T', '')" -%}
    {{ return('to_timestamp_ntz(' ~ stamp ~ ", 'yyyyMMddHHmmss')") }}
{%- endmacro -%}


{#- What loads wrote, as far as file footers tell, and what some of them say of themselves.
    Arguments: ledger (relation), loads (whose rows are counted), recorded (whose records are
    read), also (queries to be asked in the same statement, or none, with columns as of
    _input_sql()). Returns a dictionary: rows (load id to operation to number of rows), records
    (load id to record), rules (load id to rule to number of rows that break it, where asked for
    by _rule_counts_sql()), and also (name to note, of the further queries). -#}
{%- macro _load_counts(ledger, loads, recorded, also=[]) -%}
    {%- set rows, records, rules, further = {}, {}, {}, {} -%}
    {%- set sql = ([spark_cdc._load_counts_sql(ledger, loads, recorded)] + also | select | list) | join('\n\nunion all\n\n') -%}
    {%- for row in spark_cdc._query(sql) -%}
        {%- if row.load_id is none -%}
            {%- do further.update({row.operation: fromjson(row.note)}) -%}
        {%- elif row.operation == 'rules' -%}
            {%- do rules.update({row.load_id: fromjson(row.note)}) -%}
        {%- else -%}
            {%- set of_load = rows.setdefault(row.load_id, {}) -%}
            {%- do of_load.update({row.operation: of_load.get(row.operation, 0) + row.row_count | int}) -%}
            {%- if row.operation == 'L' -%}{%- do records.update({row.load_id: fromjson(row.note)}) -%}{%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return({'rows': rows, 'records': records, 'rules': rules, 'also': further}) }}
{%- endmacro -%}


{%- macro _load_counts_sql(ledger, loads, recorded) -%}
select
    load_id,
    operation,
    count(*) as row_count,
    cast(null as string) as note
from {{ ledger }}
where
    {{ spark_cdc._in_loads(loads) }}
    and operation <> 'L'
group by load_id, operation

union all

select
    load_id,
    operation,
    1 as row_count,
    cdc__note as note
from {{ ledger }}
where {{ spark_cdc._in_loads(recorded) }} and operation = 'L'
{%- endmacro -%}


{#- Loads that compact has merged are listed by their own names, in the place of what stands
    for them. -#}
{%- macro _loads_by_date(ctx, loads) -%}
    {%- set records = spark_cdc._load_records(ctx.public, spark_cdc._loads_with(loads, 'is_history')) -%}
    {%- set listed = [] -%}
    {%- for load_id in loads -%}
        {%- set kind = spark_cdc._load_kind(load_id) -%}
        {%- do listed.extend(records[load_id].compacted if kind.is_history else [] if kind.is_compacted else [load_id]) -%}
    {%- endfor -%}
    {{ return(listed) }}
{%- endmacro -%}


{#- The first loads of a list: those that make up the state after one of them, or at the end of a
    date. Loads that compact merged come and go together. Arguments: ctx, loads (oldest
    first), to (load, or date as text or as YAML reads it; none for all but the last; an empty
    text for none of them). Returns a dictionary: loads, problem (why there is no such state, a
    text, or none). -#}
{%- macro _loads_up_to(ctx, loads, to) -%}
    {%- set entity, text = ctx.entity, to | string | trim -%}
    {%- set is_load = spark_cdc._is_load_id(text) -%}
    {%- set time = spark_cdc._business_time(text) -%}
    {%- if to is none -%}
        {%- set kept = loads[:-1] -%}
    {%- elif not text -%}
        {%- set kept = [] -%}
    {%- elif is_load and text in loads -%}
        {%- set kept = loads[:loads.index(text) + (2 if spark_cdc._load_kind(text).is_history else 1)] -%}
    {%- elif is_load or time is none -%}
        {%- set problem -%}
{{ entity.name }}: '{{ text }}' is {{ 'no load that counts' if is_load else 'no load and no date that exists' }}. Accepted are loads {# -#}
of the view {{ entity.name }}_committed ({{ loads[-3:] | join(', ') }}) and dates such as {{ spark_cdc._load_time_text(entity, loads[-1]) }}.
        {%- endset -%}
        {{ return({'loads': [], 'problem': problem}) }}
    {%- else -%}
        {#- a date without a time of day means all of that day -#}
        {%- set end = time + modules.datetime.timedelta(days=1) if text | length == 10 else time + modules.datetime.timedelta(seconds=1) -%}
        {%- set kept = spark_cdc._loads_with(loads, 'time', 'lt', end) -%}
    {%- endif -%}
    {%- set cut = loads[kept | length:][:1] -%}
    {%- set is_cut = cut and spark_cdc._load_kind(cut[0]).is_compacted -%}
    {%- if is_cut -%}
        {%- set compacted = kept[-1] if not spark_cdc._load_kind(cut[0]).is_history else cut[0] -%}
        {%- set first = spark_cdc._loads_by_date(ctx, [compacted])[0] -%}
        {%- if compacted in kept or (end is defined and spark_cdc._load_time(first) < end) -%}
            {%- set problem -%}
{{ entity.name }}: compact has merged the loads from {{ spark_cdc._load_time_text(entity, first) }} to {# -#}
{{ spark_cdc._load_time_text(entity, compacted) }} into one: there is no state {{ 'at ' ~ text if text and to is not none else 'before the last of them' }}. {# -#}
Accepted are dates before the first of them, and from the last one on.
            {%- endset -%}
            {{ return({'loads': [], 'problem': problem}) }}
        {%- endif -%}
    {%- endif -%}
    {{ return({'loads': kept, 'problem': none}) }}
{%- endmacro -%}


{#- Which run writes a load, as its record has it. -#}
{%- macro _run_of_load() -%}
    {{ return({
        'started_at': spark_cdc._time_now('%Y-%m-%d %H:%M:%S.%f'),
        'invocation_id': invocation_id,
        'dbt_version': dbt_version,
        'spark_cdc_version': spark_cdc._version(),
    }) }}
{%- endmacro -%}


{#- How many rows of loads break which rule, told from the notes that the ledger keeps: rows as
    _load_counts() takes them, whose note is JSON from a rule's name to a number; under an empty
    name how many rows were set aside by rules. Nothing where the entity has no rules. -#}
{%- macro _rule_counts_sql(entity, ledger, loads) -%}
{%- if entity.rules and loads -%}
select
    load_id,
    'rules' as operation,
    0 as row_count,
    to_json(map_from_entries(collect_list(struct(rule, row_count)))) as note
from (
    select
        load_id,
        rule,
        count(*) as row_count
    from (
        select
            load_id,
            explode(if(
                operation = 'R',
                array_append(from_json(get_json_object(cdc__note, '$.rules'), 'array<string>'), ''),
                split(cdc__note, ',')
            )) as rule
        from {{ ledger }}
        where
            {{ spark_cdc._in_loads(loads) }}
            and operation in {{ spark_cdc._operations('judged') }}
            and cdc__note is not null
    ) as named
    group by load_id, rule
) as counted
group by load_id
{%- endif -%}
{%- endmacro -%}


{#- What rules said of a load: a list of dictionaries rule, action, judged (rows), broken (rows).
    Rows that are gone, and rejected ones that no rule has seen, are not judged. Arguments:
    entity, counts (of _figures_of_load()), broken (of _load_counts(); none counts as nobody). -#}
{%- macro _rule_counts_of_load(entity, counts, broken) -%}
    {%- set broken, results = broken or {}, [] -%}
    {%- set judged = counts.I + counts.U + counts.N + broken.get('', 0) -%}
    {%- for rule in entity.rules -%}
        {%- do results.append({'rule': rule.name, 'action': rule.action, 'judged': judged, 'broken': broken.get(rule.name, 0)}) -%}
    {%- endfor -%}
    {{ return(results) }}
{%- endmacro -%}
