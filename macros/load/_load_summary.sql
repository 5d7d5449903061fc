{#- What a load came to, in a line. Arguments: entity, load (of _plan_load()), audit (of _audit_load()). -#}
{%- macro _load_summary(entity, load, audit) -%}
    {%- set counts, events = audit.counts, audit.record.get('events') or {} -%}
    {%- set summary -%}
{{ load.entity }} {{ load.business_time }}: {{ audit.rows_in }} rows in, {# -#}
I {{ counts.I }}, U {{ counts.U }}, D {{ counts.D }}, N {{ counts.N }}, X {{ counts.X }}
{%- if counts.R %}, rejected {{ counts.R }} (see {{ load.entity }}_rejects){% endif -%}
{%- for name, label in [('late', 'late or repeated'), ('late_apart', 'of these other than what was applied'), ('unfilled', 'with values that were never sent and are null'), ('controls', 'control'), ('unexpected', 'with columns that are ignored')]
        if events.get(name) -%}
, {{ events[name] }} {{ label }}
{%- endfor -%}
; {{ audit.rows_current }} rows now; load {{ load.load_id }}
{%- if load.replaced %} replaces {{ load.replaced | join(', ') }}{% endif -%}
{%- set drift = spark_cdc._snapshot_message(entity, load, counts) -%}
{%- if drift %}; {{ drift }}{% endif -%}
{%- if audit.record.get('definition_change') %}; definition changed: {{ audit.record.definition_change }}{% endif -%}
    {%- endset -%}
    {{ return(summary) }}
{%- endmacro -%}
