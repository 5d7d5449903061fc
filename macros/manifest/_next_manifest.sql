{#- The manifest after a load: what the next one builds on. Arguments: run (of _planned_run()), audit (of _audit_load()). -#}
{%- macro _next_manifest(run, audit) -%}
    {%- set load, record = run.load, audit.record -%}
    {%- set changed = {'definition': load.defined, 'layout': load.layout} if load.redefines else {} -%}
    {#- what was undone before can't be brought back on top of this load -#}
    {%- set next = dict(
        spark_cdc._unmoved_manifest(run.manifest),
        loads=load.keep + [load.load_id],
        rows=audit.rows_current,
        log_rows=audit.log_rows,
        definition=spark_cdc._fingerprint(record.definition),
        layout=record.get('layout') or {},
        previous=dict(audit.previous, **changed),
    ) -%}
    {%- if record.get('secrets') -%}
        {%- set next = dict(next, secrets=dict(run.manifest.get('secrets') or {}, **record.secrets)) -%}
    {%- endif -%}
    {%- if not run.entity.events -%}
        {{ return(next) }}
    {%- endif -%}
    {{ return(dict(
        next,
        applied=spark_cdc._applied_by(record),
        previous=dict(next.previous, applied=load.applied),
    )) }}
{%- endmacro -%}
