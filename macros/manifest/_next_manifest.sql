{#- The manifest after a load: what the next one builds on. Arguments: run (of _planned_run()), audit (of _audit_load()). -#}
{%- macro _next_manifest(run, audit) -%}
    {%- set load, record = run.load, audit.record -%}
    {%- set previous = dict(audit.previous) -%}
    {%- if load.redefines -%}
        {%- set previous = dict(previous, definition=load.defined, layout=load.layout) -%}
    {%- endif -%}
    {%- set next = dict(
        run.manifest,
        loads=load.keep + [load.load_id],
        rows=audit.rows_current,
        log_rows=audit.log_rows,
        definition=spark_cdc._fingerprint(record.definition),
        layout=record.get('layout') or {},
    ) -%}
    {%- if run.entity.events -%}
        {%- set previous = dict(previous, applied=load.applied) -%}
        {%- set next = dict(next, applied={'truncated': record.events.truncated, 'highest': record.events.highest}) -%}
    {%- endif -%}
    {{ return(dict(next, previous=previous)) }}
{%- endmacro -%}
