{#- How many rows a state has (rows), and how many were written since its checkpoint (log_rows), told from the rows per load and operation.
    Arguments: rows (of _load_counts()), base (checkpoint, or none), log (loads since). -#}
{%- macro _figures_of_state(rows, base, log) -%}
    {%- set at = namespace(rows=0, log_rows=0) -%}
    {%- for operation, count in rows.get(base, {}).items() if operation in spark_cdc._operations('existing') -%}
        {%- set at.rows = at.rows + count -%}
    {%- endfor -%}
    {%- for load_id in log -%}
        {%- for operation, count in rows.get(load_id, {}).items() if operation in spark_cdc._operations('visible') -%}
            {%- set at.rows = at.rows + {'I': 1, 'D': -1}.get(operation, 0) * count -%}
            {%- set at.log_rows = at.log_rows + count -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return({'rows': at.rows, 'log_rows': at.log_rows}) }}
{%- endmacro -%}


{#- What a load came to. Arguments: load_id, written (operation to rows), rows_prior (that existed before it), record (of the load; of change
    events it says how many came in). Returns a dictionary: counts (operation to rows, with the N and X that are not written), rows_in,
    rows_prior, rows_current, record. -#}
{%- macro _figures_of_load(load_id, written, rows_prior, record) -%}
    {%- set kind = spark_cdc._load_kind(load_id) -%}
    {%- set counts = dict(dict.fromkeys('IUDNXRT', 0), **written) -%}
    {%- if kind.is_history -%}  {#- the changes of several loads, in which a key may come often -#}
        {%- set rows_in = counts.I + counts.U + counts.D -%}
    {%- elif kind.is_full -%}
        {%- set counts = dict(counts, N=rows_prior - counts.U - counts.D - counts.X) -%}
        {%- set rows_in = counts.I + counts.U + counts.N + counts.R -%}
    {%- else -%}
        {%- set counts = dict(counts, X=rows_prior - counts.U - counts.N - counts.D) -%}
        {%- set rows_in = counts.I + counts.U + counts.N + counts.R + counts.D + counts['T'] -%}
    {%- endif -%}
    {{ return({
        'counts': counts,
        'rows_in': spark_cdc._figures_of_events(load_id, record) if record.get('events') else rows_in,
        'rows_prior': rows_prior,
        'rows_current': rows_prior + counts.I - counts.D,
        'record': record,
    }) }}
{%- endmacro -%}


{#- How many events came in, or rows of a snapshot among them, which is one event more: see _events_full_snapshot(). -#}
{%- macro _figures_of_events(load_id, record) -%}
    {{ return(record.events.event_count - (1 if spark_cdc._load_kind(load_id).is_snapshot else 0)) }}
{%- endmacro -%}
