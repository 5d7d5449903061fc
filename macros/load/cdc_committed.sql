{#- Publishes a load: audits what the ledger holds of it, then makes it visible (_publish()), then adds it to
    cdc_loads. Where the ledger is not part of the run, the view is only brought up to date with the columns. -#}
{% materialization cdc_committed, adapter='spark' %}
    {%- set entity = spark_cdc._entity(spark_cdc._entity_name()) -%}
    {%- set ledger = spark_cdc._sibling(entity.name ~ '_ledger') -%}
    {%- set loads_now = (model['unique_id'].rsplit('.', 1)[0] ~ '.' ~ ledger.identifier) in selected_resources -%}
    {%- set manifest = spark_cdc._manifest_of_run(entity, this, spark_cdc._business_time()) if loads_now else spark_cdc._head(this, entity.name) -%}
    {%- set is_draft = 'replay' in manifest -%}
    {{ run_hooks(pre_hooks) }}
    {%- do spark_cdc._ensure_load_log(ref('spark_cdc', 'cdc_loads')) -%}  {#- it may not be part of this run -#}

    {%- if loads_now -%}
        {%- set time = spark_cdc._business_time() -%}
        {%- set load = spark_cdc._plan_load(entity, manifest, time, spark_cdc._is_wiped(entity.name)) -%}
        {%- set audit = spark_cdc._audit_load(entity, ledger, load, time) -%}
        {%- if load.replaced and not (is_draft or spark_cdc._is_wiped(entity.name)) -%}
            {#- what a crash left out of cdc_loads, while the manifest still names it -#}
            {%- do spark_cdc._record_missing_loads(ref('spark_cdc', 'cdc_loads'), entity, ledger, manifest) -%}
        {%- endif -%}
        {%- do manifest.update({
            'loads': load.keep + [load.load_id],
            'sequence': manifest.sequence + (0 if is_draft else 1),
            'commit': local_md5(invocation_id)[:8],
            'previous': audit.previous,
            'rows': audit.rows_current,
            'log_rows': audit.log_rows,
            'definition': local_md5(tojson(audit.record.definition, sort_keys=true)),
            'layout': audit.record.get('layout') or {},
        }) -%}
        {%- if load.redefines -%}
            {%- do manifest.previous.update({'definition': load.defined, 'layout': load.layout}) -%}
        {%- endif -%}
        {%- if entity.events -%}
            {%- do manifest.previous.update({'applied': load.applied}) -%}
            {%- do manifest.update({'applied': {'truncated': audit.record.events.truncated, 'highest': audit.record.events.highest}}) -%}
        {%- endif -%}
    {%- else -%}
        {%- do spark_cdc._refuse_missing_load(entity, manifest) -%}
        {%- do spark_cdc._refuse_new_definition(entity, manifest) -%}
    {%- endif -%}

    {%- set text = spark_cdc._committed_sql(entity, ledger, manifest) -%}
    {%- do spark_cdc._check_manifest_size(entity, text) -%}
    {%- if is_draft -%}
        {%- do spark_cdc._write_draft(entity, this, text, manifest, load, audit) -%}
    {%- elif loads_now -%}
        {%- do spark_cdc._publish(entity.name, this, text, manifest, 'load ' ~ load.load_id) -%}
    {%- else -%}
        {%- do spark_cdc._show(entity.name, this, text, manifest.existed) -%}
    {%- endif -%}
    {%- if not is_draft -%}
        {%- do spark_cdc._record_missing_loads(
            ref('spark_cdc', 'cdc_loads'), entity, ledger, manifest, committed={'load': load, 'audit': audit} if loads_now else none) -%}
        {%- if loads_now -%}{%- do log(spark_cdc._load_summary(load, audit), info=true) -%}{%- endif -%}
    {%- endif -%}
    {%- if loads_now and entity.events and not entity.events.archive -%}
        {%- do spark_cdc._drop_events_of(spark_cdc._sibling(entity.name ~ '_events'), manifest.loads[:-1] + load.replaced) -%}
    {%- endif -%}

    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='view')]}) }}
{% endmaterialization %}


{#- A run with a business date that leaves the ledger out (a retry of a refused load, most often) would look like a
    load that succeeded. -#}
{%- macro _refuse_missing_load(entity, manifest) -%}
    {%- set time = spark_cdc._business_time() -%}
    {%- if time is not none and (not manifest.loads or spark_cdc._load_time(manifest.loads[-1]) != time) -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': nothing of ' ~ spark_cdc._time_text(entity, time) ~ ' is committed, and ' ~ entity.name
            ~ "_ledger is not part of this run, so there is nothing to commit. Run dbt run --select " ~ entity.name
            ~ "_ledger+ --vars '{business_date: " ~ var('business_date') ~ "}'."
        ) %}
    {%- endif -%}
{%- endmacro -%}


{#- Columns that no load has brought yet can't be shown. -#}
{%- macro _refuse_new_definition(entity, manifest) -%}
    {%- if manifest.loads and manifest.definition and manifest.definition != spark_cdc._fingerprint(entity) -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': the columns of stg_' ~ entity.name ~ ' are not those of the last load, ' ~ manifest.loads[-1] ~ ', and ' ~ entity.name
            ~ '_ledger is not part of this run. Nothing was committed. Load a business date with dbt run --select ' ~ entity.name
            ~ "_ledger+ --vars '{business_date: …}': it applies the change."
        ) %}
    {%- endif -%}
{%- endmacro -%}
