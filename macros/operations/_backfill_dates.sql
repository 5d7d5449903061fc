{#- Writes and audits the loads of some dates, which one statement compares. Arguments: run (capture with manifest, that they build on, and backfill: all
    dates, as the command names them), times, done (the loads that the backfill has written before: load and audit). Returns a dictionary: manifest
    (as it is after them), loads (a list of dictionaries: load, audit). -#}
{%- macro _backfill_dates(run, times, done) -%}
    {%- set entity, ledger = run.entity, run.ledger -%}
    {%- set landing = spark_cdc._landing_source(entity) -%}
    {%- set loads, days = [], [] -%}
    {%- set together = spark_cdc._dates_files(entity, times) -%}
    {%- set signatures = spark_cdc._dates_signatures(entity, times, together) -%}
    {%- set known = {} -%}
    {%- for load in spark_cdc._backfill_plans(run, times) -%}
        {%- set time = spark_cdc._load_time(load.load_id) -%}
        {%- set signature = signatures[loop.index0] -%}
        {%- if signature is none or signature not in known -%}  {#- a look at it is a look at all that are like it -#}
            {%- set files = spark_cdc._land_load(entity, landing, time, load) -%}
            {%- set has_rows = files is none or files.files -%}
            {%- set found = spark_cdc._found_as_read(entity, files, spark_cdc._folder_columns(entity, time, files)).found
                if has_rows and entity.source.format != 'json' else [] -%}
            {#- one without any value in a column tells nothing of those of another date -#}
            {%- do known.update({signature: found} if not found | selectattr('is_null', 'defined') | list else {}) -%}
        {%- else -%}
            {%- set files, found = together[loop.index0] if together else none, known[signature] -%}
        {%- endif -%}
        {%- do days.append({'time': time, 'day': 2 ** loop.index, 'files': files, 'found': found}) -%}
        {%- do loads.append(dict(load, files={'files': files.files, 'bytes': files.bytes, 'digest': files.digest} if files else none)) -%}
    {%- endfor -%}
    {%- set landed = spark_cdc._landed_dates_sql(entity, landing, days) -%}
    {#- staging would take a key that came on several dates for one that came several times -#}
    {%- set staged = dict(entity, quarantine=entity.quarantine | reject('equalto', 'duplicate_keys') | list) -%}
    {%- set incoming = '(\n' ~ spark_cdc._stage_sql(staged, landed.sql, ['backfill__days']) ~ '\n)' -%}
    {%- set first = loads[0] -%}
    {%- set compared = dict(run, load=first, prior=spark_cdc._laid_out(entity, ledger, first.layout),
        broadcast=spark_cdc._is_few(entity, run.manifest.log_rows)) -%}
    {%- set begun = none if run.manifest.loads else run -%}
    {%- set columns = spark_cdc._settled_table(entity, ledger, spark_cdc._ledger_columns(entity, first.layout),
        ['business_date', 'load_id', 'operation'], ['key_hash', 'nonkey_hash'], begun=begun) -%}
    {%- set records = [] -%}
    {%- for load in loads -%}{%- do records.append(dict(load.items() | rejectattr(0, 'equalto', 'keep'))) -%}{%- endfor -%}
    {%- do spark_cdc._set_session(ledger) -%}
    {%- do spark_cdc._send(spark_cdc._write_loads_sql(ledger, columns, records, spark_cdc._tag_dates_sql(compared, loads, incoming))) -%}
    {%- do spark_cdc._write_masked_ledger(run, loads | map(attribute='load_id') | list, first.layout, begun) -%}
    {{ return(spark_cdc._audit_backfill(run, loads, days, landed.views, done)) }}
{%- endmacro -%}


{#- The plans of the loads, which build on each other. The first is a checkpoint if one is due; whether one is due after the others can only be told when
    they are written. -#}
{%- macro _backfill_plans(run, times) -%}
    {%- set entity = run.entity -%}
    {%- set secrets = spark_cdc._check_secret(run) -%}
    {%- set shared = dict(
        spark_cdc._run_of_load(), definition=spark_cdc._definition(entity), backfill=run.backfill, **({'secrets': secrets} if secrets else {})) -%}
    {%- set plans = [dict(spark_cdc._plan_load(entity, run.manifest, times[0]), **shared)] -%}
    {%- for time in times[1:] -%}
        {%- set before = plans[-1] -%}
        {%- do plans.append(dict(
            before,
            load_id=spark_cdc._load_id(entity, time, false),
            business_time=spark_cdc._time_text(entity, time),
            is_checkpoint=false,
            keep=before.keep + [before.load_id],
            parent=before.load_id,
            base=before.load_id if before.is_checkpoint else before.base,
            log=[] if before.is_checkpoint else before.log + [before.load_id],
            prior_rows=none,
            prior_log_rows=none,
        )) -%}
    {%- endfor -%}
    {{ return(plans) }}
{%- endmacro -%}
