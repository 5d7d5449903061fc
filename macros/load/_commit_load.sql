{#- Audits a load that is written, and makes it visible, or in a replay adds it to the draft. If another run has committed since the load was planned,
    the commit is refused. Arguments: run (of _planned_run()). -#}
{%- macro _commit_load(run) -%}
    {%- set load = run.load -%}
    {%- set audited = spark_cdc._audited_load(run) -%}
    {%- set audit, manifest = audited.audit, audited.manifest -%}
    {%- if 'replay' in manifest -%}
        {%- if audit.record.replaced != load.replaced -%}
            {%- set message -%}
{{ run.entity.name }}: another run committed {{ load.business_time }} anew while the replay read it. Nothing was committed and {# -#}
readers see what they saw before. Run the same command again.
            {%- endset -%}
            {%- do exceptions.raise_compiler_error(message) -%}
        {%- endif -%}
        {%- set text = spark_cdc._manifest_text(run, dict(manifest, commit=spark_cdc._attempt())) -%}
        {%- do spark_cdc._send(spark_cdc._replace_view_sql(run.replay, text, manifest.existed)) -%}
        {%- do log(spark_cdc._load_summary(run.entity, load, audit) ~ ' in the draft', info=true) -%}
    {%- else -%}
        {%- if (load.replaced or 'move' in run.manifest) and not spark_cdc._is_wiped(run.entity.name) -%}
            {#- what a crash left out of cdc_loads, while the manifest still names it -#}
            {%- do spark_cdc._record_missing_loads(run, run.manifest) -%}
        {%- endif -%}
        {%- do spark_cdc._commit_audited_load(run, manifest, 'load ' ~ load.load_id, [{'load': load, 'audit': audit}]) -%}
        {%- do log(spark_cdc._load_summary(run.entity, load, audit), info=true) -%}
    {%- endif -%}
    {%- if run.entity.events and not run.entity.events.archive -%}
        {%- do spark_cdc._drop_loads(run.events, manifest.loads[:-1] + load.replaced) -%}  {#- their events are in the ledger -#}
    {%- endif -%}
{%- endmacro -%}


{#- Makes loads visible, records them in cdc_loads and gives up the claims of the commit. Arguments: run (its manifest is the one that they build on), manifest
    (with them), what (is committed, for messages), loads (a list of dictionaries: load, audit). -#}
{%- macro _commit_audited_load(run, manifest, what, loads) -%}
    {%- set older = spark_cdc._publish(run, manifest, what, before=run.manifest) -%}
    {#- what was undone before can't come back -#}
    {%- set undone = run.manifest.get('undone', []) | map(attribute='loads') | sum(start=[]) | reject('in', manifest.loads) | list -%}
    {%- do spark_cdc._set_load_status(run.load_log, 'committed', 'replaced', run.entity.name, undone) -%}
    {%- if older | length > 1 or run.manifest.sequence <= 1 or spark_cdc._is_new_load_log(run.load_log) -%}
        {#- a run before this one broke off when it had committed, or nobody can tell -#}
        {%- do spark_cdc._record_missing_loads(run, manifest, committed=loads) -%}
    {%- else -%}
        {%- do spark_cdc._record_loads(run.load_log, run.entity, loads) -%}
    {%- endif -%}
    {%- do spark_cdc._drop_claims(run, older) -%}
{%- endmacro -%}
