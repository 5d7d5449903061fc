{#- Publishes a load: audits what the ledger holds of it, then makes it visible (publish()), then adds it to
    cdc_loads. Where the ledger is not part of the run, the view is only brought up to date with the columns. -#}
{% materialization cdc_committed, adapter='spark' %}
    {%- set entity = spark_cdc.entity(spark_cdc._entity_name()) -%}
    {%- set ledger = spark_cdc._sibling(entity.name ~ '_ledger') -%}
    {%- set loads_now = (model['unique_id'].rsplit('.', 1)[0] ~ '.' ~ ledger.identifier) in selected_resources -%}
    {%- set manifest = spark_cdc._head(this, entity.name) -%}
    {{ run_hooks(pre_hooks) }}
    {%- if load_cached_relation(ref('spark_cdc', 'cdc_loads')) is none -%}
        {%- do run_query(spark_cdc._create_load_log_sql(ref('spark_cdc', 'cdc_loads'))) -%}  {#- not part of this run -#}
    {%- endif -%}

    {%- if loads_now -%}
        {%- set time = spark_cdc.business_time() -%}
        {%- set load = spark_cdc.plan_load(entity, manifest, time, spark_cdc._is_wiped(entity.name)) -%}
        {%- set audit = spark_cdc.audit_load(entity, ledger, load, time) -%}
        {%- do manifest.update({
            'loads': load.keep + [load.load_id],
            'sequence': manifest.sequence + 1,
            'commit': local_md5(invocation_id)[:8],
            'previous': audit.previous,
            'rows': audit.rows_current,
            'log_rows': audit.log_rows,
            'definition': local_md5(tojson(audit.record.definition, sort_keys=true)),
        }) -%}
        {%- if entity.events -%}
            {%- do manifest.previous.update({'applied': load.applied}) -%}
            {%- do manifest.update({'applied': {'truncated': audit.record.events.truncated, 'highest': audit.record.events.highest}}) -%}
        {%- endif -%}
    {%- else -%}
        {%- do spark_cdc._refuse_missing_load(entity, manifest) -%}
    {%- endif -%}

    {%- set text = spark_cdc.committed_sql(entity, ledger, manifest) -%}
    {%- do spark_cdc._check_manifest_size(entity, text) -%}
    {%- if loads_now -%}
        {%- do spark_cdc.publish(entity.name, this, text, manifest, 'load ' ~ load.load_id) -%}
        {%- do spark_cdc._record_load(ref('spark_cdc', 'cdc_loads'), entity, load, audit) -%}
        {%- do log(spark_cdc._load_summary(load, audit), info=true) -%}
    {%- else -%}
        {%- do spark_cdc._show(entity.name, this, text, manifest.existed) -%}
    {%- endif -%}
    {%- do spark_cdc.record_missing_loads(ref('spark_cdc', 'cdc_loads'), entity, ledger, manifest) -%}

    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='view')]}) }}
{% endmaterialization %}


{#- A run with a business date that leaves the ledger out (a retry of a refused load, most often) would look like a
    load that succeeded. -#}
{%- macro _refuse_missing_load(entity, manifest) -%}
    {%- set time = spark_cdc.business_time() -%}
    {%- if time is not none and (not manifest.loads or spark_cdc._load_time(manifest.loads[-1]) != time) -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': nothing of ' ~ spark_cdc._time_text(entity, time) ~ ' is committed, and ' ~ entity.name
            ~ "_ledger is not part of this run, so there is nothing to commit. Run dbt run --select " ~ entity.name
            ~ "_ledger+ --vars '{business_date: " ~ var('business_date') ~ "}'."
        ) %}
    {%- endif -%}
{%- endmacro -%}


{#- A Derby metastore keeps at most 32,700 characters of a view's text. -#}
{%- macro _check_manifest_size(entity, text) -%}
    {%- set limit = var('spark_cdc_manifest_limit', 32000) -%}
    {%- if text | length > limit -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': the manifest would have ' ~ (text | length) ~ ' characters, more than ' ~ limit
            ~ ', which a Derby metastore can hold. Nothing was committed. Where the metastore takes longer texts, raise '
            ~ 'the var spark_cdc_manifest_limit; else start a new ledger with --full-refresh and spark_cdc_wipe.'
        ) %}
    {%- endif -%}
{%- endmacro -%}


{%- macro _load_summary(load, audit) -%}
    {{ return(
        load.entity ~ ' ' ~ load.business_time ~ ': ' ~ audit.rows_in ~ ' rows in, I ' ~ audit.counts.I ~ ', U ' ~ audit.counts.U
        ~ ', D ' ~ audit.counts.D ~ ', N ' ~ audit.counts.N ~ ', X ' ~ audit.counts.X ~ spark_cdc._event_counts(audit.record) ~ '; ' ~ audit.rows_current
        ~ ' rows now; load ' ~ load.load_id ~ (' replaces ' ~ load.replaced | join(', ') if load.replaced else '')
    ) }}
{%- endmacro -%}


{#- Events that changed nothing, in words: nothing where there are none. -#}
{%- macro _event_counts(record) -%}
    {%- set texts = [] -%}
    {%- for name, label in [('late', 'late or repeated'), ('controls', 'control'), ('unexpected', 'with columns that are ignored')]
            if record.get('events') and record.events[name] -%}
        {%- do texts.append(', ' ~ record.events[name] ~ ' ' ~ label) -%}
    {%- endfor -%}
    {{ return(texts | join('')) }}
{%- endmacro -%}
