{#- Squashes the older loads of an entity: plan, write, audit, commit. Arguments: capture; older_than_days, histories, execute as of compact(),
    keep_loads as of _plan_compaction(). Returns the number of loads that were squashed, or would be. -#}
{%- macro _compact_entity(capture, older_than_days, histories, execute, keep_loads=1) -%}
    {%- set entity = capture.entity -%}
    {%- set manifest = spark_cdc._head(capture) if execute else spark_cdc._read_manifest(capture.committed) -%}
    {%- set plan = spark_cdc._plan_compaction(manifest.loads, older_than_days, histories, keep_loads) -%}
    {%- if plan.squashed -%}
        {%- set records = spark_cdc._load_records(capture.ledger, plan.squashed + plan.kept_after[:1]) -%}
        {%- set plan = spark_cdc._plan_compaction_of_one_definition(plan, records) -%}
    {%- endif -%}
    {%- if not plan.squashed -%}
        {%- do log(entity.name ~ ': nothing to squash in ' ~ spark_cdc._counted(manifest.loads | length, 'load'), info=true) -%}
        {{ return(0) }}
    {%- elif manifest.definition and not spark_cdc._has_columns_of(entity, manifest.definition) -%}
        {#- the new text of <entity>_committed will have the columns that the YAML declares -#}
        {%- set message -%}
{{ entity.name }}: the columns of stg_{{ entity.name }} are not those of the last load, {{ manifest.loads[-1] }}. Nothing was written. {# -#}
Load once with the new columns, then compact.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}

    {%- set rows = spark_cdc._load_counts(capture.ledger, manifest.loads, manifest.loads[-1:]).rows -%}
    {%- set figures = spark_cdc._compaction_figures(plan, rows) -%}
    {%- set next = spark_cdc._compacted_manifest(manifest, plan, rows) -%}
    {%- set text -%}
{{ entity.name }}: {{ 'squashes' if execute else 'would squash' }} {{ spark_cdc._counted(plan.squashed | length, 'load') }}, {# -#}
{{ plan.squashed[0] }} to {{ plan.squashed[-1] }}, of {{ manifest.loads | length }}; writes {{ figures.history_rows }} rows of history and {# -#}
{{ figures.rows_after }} of the state; the manifest has {{ next.loads | length }} loads and {# -#}
{{ spark_cdc._committed_sql(entity, capture.masked, next) | length }} characters instead of {{ manifest.loads | length }} and {# -#}
{{ spark_cdc._committed_sql(entity, capture.masked, manifest) | length }}
    {%- endset -%}
    {%- do log(text, info=true) -%}
    {%- if not execute -%}
        {{ return(plan.squashed | length) }}
    {%- endif -%}

    {%- set commits = spark_cdc._commits(dict(manifest, loads=plan.squashed), records) -%}
    {%- set history = spark_cdc._compaction_record(entity, plan, records, figures, false, commits) -%}
    {%- set checkpoint = spark_cdc._compaction_record(entity, plan, records, figures, true) -%}
    {#- of both ledgers, each from its own rows -#}
    {%- for ledger in [capture.ledger, capture.masked] | unique -%}
        {%- do spark_cdc._write_compaction(dict(capture, ledger=ledger), plan, figures, history, checkpoint) -%}
    {%- endfor -%}
    {%- do spark_cdc._audit_compaction(capture, plan, figures) -%}
    {%- do spark_cdc._ensure_load_log(capture.load_log) -%}
    {%- do spark_cdc._record_missing_loads(capture, manifest) -%}
    {%- set older = spark_cdc._publish(capture, next, plan.history ~ ' and ' ~ plan.checkpoint) -%}
    {%- for record in [history, checkpoint] -%}
        {%- do spark_cdc._record_load(capture.load_log, entity, record, spark_cdc._figures_of_load(
            record.load_id, figures.written[record.load_id], record.prior_rows, record)) -%}
    {%- endfor -%}
    {%- do spark_cdc._drop_claims(capture, older) -%}
    {%- do log(entity.name ~ ': squashed into ' ~ plan.history ~ ' and ' ~ plan.checkpoint ~ '; vacuum drops the old partitions later', info=true) -%}
    {{ return(plan.squashed | length) }}
{%- endmacro -%}


{#- Writes what older loads are squashed into, from the rows of a ledger into the same. -#}
{%- macro _write_compaction(capture, plan, figures, history, checkpoint) -%}
    {%- set entity = capture.entity -%}
    {%- set columns = [] -%}  {#- as they lie there, whatever they hold by now -#}
    {%- for column in adapter.get_columns_in_relation(capture.ledger) -%}
        {%- do columns.append({'name': column.name, 'sql': spark_cdc._quote(column.name), 'data_type': column.dtype}) -%}
    {%- endfor -%}
    {%- set columns = spark_cdc._placed_columns(columns, {}) -%}
    {%- set order = spark_cdc._cluster_order(
        entity, spark_cdc._ledger_columns(entity, checkpoint.layout), capture.ledger, plan.squashed, figures.history_rows + figures.rows_after) -%}
    {%- set compacted = spark_cdc._compacted_rows_sql(capture, plan, columns, history, checkpoint, is_ordered=order is not none) -%}
    {%- do spark_cdc._set_session(capture.ledger) -%}
    {%- do spark_cdc._set_file_size(entity, figures.history_rows + figures.rows_after) -%}
    {%- do spark_cdc._send(spark_cdc._write_loads_sql(capture.ledger, columns, [checkpoint], compacted, order)) -%}
    {%- do spark_cdc._reset_file_size() -%}
{%- endmacro -%}


{#- What is written, from the rows per load and operation: history_rows, rows_prior and rows_after (that existed before and after the squashed
    loads; the latter are written as the state), written (load id to operation to rows). -#}
{%- macro _compaction_figures(plan, rows) -%}
    {%- set squashed = rows.items() | selectattr(0, 'in', plan.squashed) | map(attribute=1) | list -%}
    {%- set sums = {} -%}
    {%- for operation in ['I', 'U', 'D'] -%}
        {%- do sums.update({operation: squashed | map(attribute=operation, default=0) | sum}) -%}
    {%- endfor -%}
    {%- set prior = spark_cdc._figures_of_state(rows, none, plan.kept_before).rows -%}
    {%- set after = prior + sums.I - sums.D -%}
    {{ return({
        'rows_prior': prior,
        'rows_after': after,
        'history_rows': sums.I + sums.U + sums.D,
        'written': {plan.history: sums, plan.checkpoint: {'X': after}},
    }) }}
{%- endmacro -%}


{#- The manifest with the squashed loads replaced: its figures are those of the same last load, counted from the new
    checkpoint where no later one is there. -#}
{%- macro _compacted_manifest(manifest, plan, rows) -%}
    {%- set loads = plan.kept_before + [plan.history, plan.checkpoint] + plan.kept_after -%}
    {%- set now = spark_cdc._figures_of_state(rows, none, spark_cdc._state_loads(loads).log) -%}
    {%- set before = spark_cdc._figures_of_state(rows, none, spark_cdc._state_loads(loads[:-1]).log) -%}
    {{ return(dict(manifest, loads=loads, log_rows=now.log_rows, previous=dict(manifest.previous, log_rows=before.log_rows))) }}
{%- endmacro -%}


{#- What was written is counted before anybody sees it. -#}
{%- macro _audit_compaction(capture, plan, figures) -%}
    {%- set names = [plan.history, plan.checkpoint] -%}
    {%- set counted = spark_cdc._load_counts(capture.ledger, names, names, [spark_cdc._masked_ledger_differences_sql(capture, names)]) -%}
    {%- set problem = spark_cdc._masked_ledger_problem(capture, counted.also.get('masked', 0)) -%}
    {%- if problem -%}{%- do exceptions.raise_compiler_error(problem) -%}{%- endif -%}
    {%- set rows = counted.rows -%}
    {%- set problems = [] -%}
    {%- for load_id, wanted in figures.written.items() -%}
        {%- set found = rows.get(load_id, {}) -%}
        {%- for operation in ['I', 'U', 'D', 'X'] if found.get(operation, 0) != wanted.get(operation, 0) -%}
            {%- do problems.append(load_id ~ ' has ' ~ found.get(operation, 0) ~ ' rows ' ~ operation ~ ' instead of ' ~ wanted.get(operation, 0)) -%}
        {%- endfor -%}
        {%- if found.get('L', 0) != 1 -%}
            {%- do problems.append(load_id ~ ' has ' ~ found.get('L', 0) ~ ' records') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if problems -%}
        {%- set message -%}
{{ capture.entity.name }}: what was squashed is not what was there: {{ problems | join('; ') }}. Nothing was committed and readers see {# -#}
what they saw before. Run spark-cdc verify --select {{ capture.entity.name }} to find out what is wrong with the ledger.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
{%- endmacro -%}
