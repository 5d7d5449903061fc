{#- Writes a row of cdc_loads. Arguments as of _record_load_sql(). -#}
{%- macro _record_load(load_log, entity, load, audit, now=true, refusal=none) -%}
    {%- do spark_cdc._set_overwrite(load_log) -%}
    {%- do spark_cdc._send(spark_cdc._record_load_sql(load_log, entity, load, audit, now, refusal)) -%}
{%- endmacro -%}


{#- Writes a row of cdc_loads for each of some loads that were committed just now, 50 of them by one statement. Argument: loads (a list of dictionaries: load,
    audit, as of _record_load_sql()). -#}
{%- macro _record_loads(load_log, entity, loads) -%}
    {%- do spark_cdc._set_load_status(load_log, 'committed', 'replaced', entity.name, spark_cdc._replaced_by(loads | map(attribute='load'))) -%}
    {%- if loads -%}{%- do spark_cdc._set_overwrite(load_log) -%}{%- endif -%}
    {%- for some in loads | batch(50) -%}
        {%- set rows = [] -%}
        {%- for one in some -%}{%- do rows.append(spark_cdc._load_row_sql(entity, one.load, one.audit)) -%}{%- endfor -%}
        {%- set sql = rows | join('\n\nunion all\n\n') -%}
        {%- if some | length > 1 -%}{%- set sql = 'select /*+ coalesce(1) */ *\nfrom (\n' ~ sql ~ '\n) as loads' -%}{%- endif -%}
        {%- do spark_cdc._send('insert overwrite table ' ~ spark_cdc._own(load_log) ~ ' by name\n' ~ sql) -%}
    {%- endfor -%}
{%- endmacro -%}


{#- The statement that adds a load to cdc_loads: an overwrite of a partition of its own, which gives the same when it is sent twice.
    Arguments: load_log (cdc_loads), entity, load (of _plan_load()), audit (of _audit_load(); of a refused load as far as it is known), now
    (whether the load was committed just now; else nobody knows when), refusal (guard and message of a refused load). -#}
{%- macro _record_load_sql(load_log, entity, load, audit, now=true, refusal=none) -%}
insert overwrite table {{ spark_cdc._own(load_log) }} by name
{{ spark_cdc._load_row_sql(entity, load, audit, now, refusal) }}
{%- endmacro -%}


{%- macro _load_row_sql(entity, load, audit, now=true, refusal=none) -%}
{%- set record = audit.get('record') or {} -%}
{%- set counts = audit.get('counts') or {} -%}
{%- set events = record.get('events') or {} -%}
{%- set files = audit.get('files') or record.get('files') or {'files': none, 'bytes': none} -%}
{%- set started_at = "timestamp'" ~ record.started_at ~ " UTC'" if record.get('started_at') else 'current_timestamp()' -%}
{%- set is_done = now and refusal is none -%}
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
    'committed_at': 'current_timestamp()' if is_done else 'null',
    'duration_seconds': '(unix_micros(current_timestamp()) - unix_micros(' ~ started_at ~ ')) / cast(1000000 as double)' if is_done else 'null',
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
    {%- endfor %}
{%- endmacro -%}
