{#- The manifest of an entity with the loads that the last undo took back. Their rows are counted first: vacuum may have dropped them.
    Arguments: capture, head (manifest). Returns a dictionary as of _undone_manifest(). -#}
{%- macro _redone_manifest(capture, head) -%}
    {%- set name, undone = capture.entity.name, head.get('undone') or [] -%}
    {%- if not undone -%}
        {%- set problem -%}
{{ name }}: there is nothing to bring back. What was undone can be, until another load is committed, or vacuum drops it. To load {# -#}
the date again: spark-cdc load DATE --select {{ name }}.
        {%- endset -%}
        {{ return({'problem': problem}) }}
    {%- endif -%}
    {%- set step = undone[0] -%}
    {%- set manifest = dict(head, loads=head.loads + step.loads, undone=undone[1:], **step.figures) -%}
    {%- set problem = spark_cdc._other_columns_problem(capture.entity, manifest) -%}
    {%- if problem -%}
        {{ return({'problem': problem}) }}
    {%- endif -%}

    {%- set state, before = spark_cdc._state_loads(manifest.loads), spark_cdc._state_loads(manifest.loads[:-1]) -%}
    {%- set needed = ([state.base, before.base] | select | list + state.log + before.log + step.loads) | unique | list -%}
    {%- set counted = spark_cdc._load_counts(capture.ledger, needed, step.loads) -%}
    {%- set now = spark_cdc._figures_of_state(counted.rows, state.base, state.log) -%}
    {%- set changes = namespace(rows=head.rows) -%}
    {%- for load_id in step.loads -%}
        {%- set of_load = counted.rows.get(load_id, {}) -%}
        {%- set changes.rows = changes.rows + of_load.get('I', 0) - of_load.get('D', 0) -%}
    {%- endfor -%}
    {%- set gone = step.loads | reject('in', counted.records) | list -%}
    {%- if gone or now.rows != manifest.rows or changes.rows != manifest.rows -%}
        {%- set problem -%}
{{ name }}: {{ gone | join(', ') or step.loads | join(', ') }} can't be brought back: rows are missing in {{ capture.ledger }}; vacuum drops {# -#}
loads that were undone. Load the dates again: spark-cdc load {{ spark_cdc._load_times(capture.entity, step.loads) | join(' ') }} --select {{ name }}.
        {%- endset -%}
        {{ return({'problem': problem}) }}
    {%- endif -%}
    {#- since its checkpoint: compact may have written one meanwhile -#}
    {%- set rows_before = spark_cdc._figures_of_state(counted.rows, before.base, before.log) -%}
    {%- set previous = dict(manifest.previous, log_rows=rows_before.log_rows) -%}
    {{ return({'problem': none, 'manifest': dict(manifest, log_rows=now.log_rows, previous=previous), 'loads': step.loads}) }}
{%- endmacro -%}
