{#- The counts must add up: in a full load the rows that came in and were not new, other or rejected are those that were there and neither
    changed nor went (nor are held, X, since a rejected row may be theirs); in a delta, or of events, no more rows can have been touched than
    were there. Where unchanged rows were marked while the load was written, or written, as many must be what is left of the state before. Keys that
    came twice without a change are not in the ledger, so the input is looked at again, only once the counts are wrong; else the input changed
    while it was read. -#}
{%- macro _check_counts(run, known) -%}
    {%- set entity, load, counts = run.entity, run.load, known.counts -%}
    {%- set written = counts.I + counts.U + counts.R -%}
    {%- set is_full = load.load_type == 'full' and not entity.events -%}
    {%- if is_full -%}
        {%- set unchanged = known.get('unchanged') -%}
        {%- set is_counted = known.lines is none and (load.is_checkpoint or unchanged is not none or known.files and not known.files.files) -%}
        {%- set rows_in = written + counts.N + (unchanged or 0) if is_counted else spark_cdc._count_input(entity, run.time) if known.lines is none else known.lines -%}
        {#- rows that a snapshot flags as deleted count as missing -#}
        {%- set flagged = spark_cdc._count_flagged(run) if entity.deleted_when and not is_counted else 0 -%}
        {%- set rows_in = rows_in - flagged -%}
        {%- set kept = known.rows_prior - counts.D - counts.U - counts.X -%}
        {%- if rows_in - written == kept and unchanged in [none, kept - counts.N] -%}{{ return('') }}{%- endif -%}
    {%- else -%}
        {%- set rows_in = spark_cdc._figures_of_events(load.load_id, known.record) if entity.events else written + counts.N + counts.D + counts['T'] -%}
        {%- set kept = known.rows_prior - counts.U - counts.N - counts.D -%}
        {#- a message of these formats, and of a user's own, may hold several events -#}
        {%- set is_counted = not entity.events or entity.events.get('snapshot') or entity.events.format in spark_cdc._event_formats() | reject('in', ['canal', 'wal2json']) -%}
        {%- set is_in = known.lines in [none, rows_in] or not is_counted -%}
        {%- if is_in and (kept == counts.X if load.is_checkpoint else kept >= 0) -%}{{ return('') }}{%- endif -%}
    {%- endif -%}
    {%- if is_full or load.get('backfill') -%}  {#- a backfill writes rows that came twice alike once -#}
        {%- do spark_cdc._land_load(entity, spark_cdc._landing_source(entity), run.time, load) -%}
        {%- set incoming = '(\n' ~ spark_cdc._stage_sql(entity, spark_cdc._landed_view(entity)) ~ '\n) as incoming' -%}
        {%- set examples = spark_cdc._query(spark_cdc._repeated_keys_sql(entity, incoming)) -%}
        {%- if examples -%}
            {%- do spark_cdc._refuse_duplicates(run, known, 'keys come', examples) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set message -%}
{{ entity.name }}: the counts of {{ load.business_time }} do not reconcile: {{ rows_in }} rows in{# -#}
{{ ', ' ~ known.lines ~ ' records in the files' if known.lines not in [none, rows_in] }}, {{ known.rows_prior }} rows before; {# -#}
I {{ counts.I }}, U {{ counts.U }}, D {{ counts.D }}, rejected {{ counts.R }}
{%- if is_full -%}
, which leaves {{ rows_in - written }} unchanged rows in the load but {{ kept }} in the state before
{%- else -%}
, N {{ counts.N }}, X {{ counts.X }}
{%- endif -%}
. The input changed while it was read, or stg_{{ entity.name }} filters rows. Nothing was committed and readers see what they saw before. {# -#}
Run the same command again once the input is complete.
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, 'counts', message, load, dict(known, rows_in=rows_in)) -%}
{%- endmacro -%}
