{%- macro _compact_entity(operated, older_than_days, histories, execute) -%}
    {%- set entity = operated.entity -%}
    {%- set manifest = spark_cdc._head(operated.committed, entity.name) if execute else spark_cdc._read_manifest(operated.committed) -%}
    {%- set plan = spark_cdc._plan_compaction(entity, manifest.loads, older_than_days, histories) -%}
    {%- if plan.squashed -%}
        {%- set records = spark_cdc._load_records(operated.ledger, plan.squashed + plan.kept_after[:1]) -%}
        {%- do spark_cdc._keep_to_one_definition(plan, records) -%}
    {%- endif -%}
    {%- if not plan.squashed -%}
        {%- do log(entity.name ~ ': nothing to squash in ' ~ spark_cdc._counted(manifest.loads | length, 'load'), info=true) -%}
        {{ return(0) }}
    {%- endif -%}
    {%- do spark_cdc._check_compactable(operated, manifest) -%}

    {%- set rows = {} -%}
    {%- for row in spark_cdc._query(spark_cdc._all_counts_sql(operated.ledger, manifest.loads)) -%}
        {%- do rows.setdefault(row.load_id, {}).update({row.operation: row.row_count | int}) -%}
    {%- endfor -%}
    {%- set figures = spark_cdc._compaction_figures(manifest.loads, plan, rows) -%}
    {%- set new_manifest = spark_cdc._compacted_manifest(manifest, plan, rows) -%}
    {%- set new_text = spark_cdc._committed_sql(entity, operated.ledger, new_manifest) -%}
    {%- do log(
        entity.name ~ ': ' ~ ('squashes ' if execute else 'would squash ') ~ spark_cdc._counted(plan.squashed | length, 'load') ~ ', '
        ~ plan.squashed[0] ~ ' to ' ~ plan.squashed[-1] ~ ', of ' ~ (manifest.loads | length) ~ '; writes ' ~ figures.history_rows
        ~ ' rows of history and ' ~ figures.state_rows ~ ' of the state; the manifest has ' ~ (new_manifest.loads | length) ~ ' loads and '
        ~ (new_text | length) ~ ' characters instead of ' ~ (manifest.loads | length) ~ ' and ' ~ (spark_cdc._committed_sql(entity, operated.ledger, manifest) | length),
        info=true
    ) -%}
    {%- if not execute -%}
        {{ return(plan.squashed | length) }}
    {%- endif -%}

    {%- set history = spark_cdc._compaction_record(entity, plan, records, figures, false) -%}
    {%- set checkpoint = spark_cdc._compaction_record(entity, plan, records, figures, true) -%}
    {%- set columns = spark_cdc._physical_columns(operated.ledger) -%}
    {%- do spark_cdc._set_session() -%}
    {%- do run_query(spark_cdc._write_load_sql(
        operated.ledger, columns, checkpoint, spark_cdc._compacted_rows_sql(operated, plan, columns, history, checkpoint))) -%}
    {%- do spark_cdc._audit_compaction(operated, plan, figures) -%}
    {%- do spark_cdc._ensure_load_log(operated.load_log) -%}
    {%- do spark_cdc._record_missing_loads(operated.load_log, entity, operated.ledger, manifest) -%}
    {%- do spark_cdc._publish(entity.name, operated.committed, new_text, new_manifest, plan.history ~ ' and ' ~ plan.checkpoint) -%}
    {%- for record in [history, checkpoint] -%}
        {%- set audit = spark_cdc._figures_of_load(record.load_id, figures.written[record.load_id], figures.rows_prior if loop.first else figures.rows_after) -%}
        {%- do audit.update({'record': record}) -%}
        {%- if entity.events -%}{%- do audit.update({'rows_in': record.events.event_count}) -%}{%- endif -%}
        {%- do spark_cdc._record_load(operated.load_log, entity, record, audit) -%}
    {%- endfor -%}
    {%- do log(entity.name ~ ': squashed into ' ~ plan.history ~ ' and ' ~ plan.checkpoint ~ '; vacuum drops the old partitions later', info=true) -%}
    {{ return(plan.squashed | length) }}
{%- endmacro -%}


{#- The new text of <entity>_committed has the columns that the YAML declares, so these must be those of the last load. -#}
{%- macro _check_compactable(operated, manifest) -%}
    {%- if manifest.definition and manifest.definition != spark_cdc._fingerprint(operated.entity) -%}
        {% do exceptions.raise_compiler_error(
            operated.entity.name ~ ': the columns of stg_' ~ operated.entity.name ~ ' are not those of the last load, ' ~ manifest.loads[-1]
            ~ '. Nothing was written. Load once with the new columns, then compact.'
        ) %}
    {%- endif -%}
{%- endmacro -%}


{#- All columns of a ledger as they lie there, whatever they hold by now. -#}
{%- macro _physical_columns(ledger) -%}
    {%- set columns = [] -%}
    {%- for column in adapter.get_columns_in_relation(ledger) -%}
        {%- do columns.append({'name': column.name, 'sql': spark_cdc._quote(column.name), 'data_type': column.dtype}) -%}
    {%- endfor -%}
    {{ return(spark_cdc._placed_columns(columns, {})) }}
{%- endmacro -%}


{#- What is written, from the rows per load and operation: rows of history and state, rows that existed before and after
    the squashed loads. -#}
{%- macro _compaction_figures(loads, plan, rows) -%}
    {%- set sums = {'I': 0, 'U': 0, 'D': 0} -%}
    {%- set before = namespace(rows=0) -%}
    {%- for load_id in plan.kept_before + plan.squashed -%}
        {%- set written = rows.get(load_id, {}) -%}
        {%- if load_id in plan.squashed -%}
            {%- for operation in ['I', 'U', 'D'] -%}
                {%- do sums.update({operation: sums[operation] + written.get(operation, 0)}) -%}
            {%- endfor -%}
        {%- else -%}
            {%- set before.rows = before.rows + written.get('I', 0) - written.get('D', 0) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set after = before.rows + sums.I - sums.D -%}
    {{ return({
        'rows_prior': before.rows,
        'rows_after': after,
        'history_rows': sums.I + sums.U + sums.D,
        'state_rows': after,
        'written': {plan.history: sums, plan.checkpoint: {'X': after}},
    }) }}
{%- endmacro -%}


{#- The manifest with the squashed loads replaced: its figures are those of the same last load, counted from the new
    checkpoint where no later one is there. -#}
{%- macro _compacted_manifest(manifest, plan, rows) -%}
    {%- set new = dict(manifest) -%}
    {%- set loads = plan.kept_before + [plan.history, plan.checkpoint] + plan.kept_after -%}
    {%- set log_rows = [] -%}
    {%- for list in [loads, loads[:-1]] -%}
        {%- do log_rows.append(spark_cdc._figures_of_state(rows, none, spark_cdc._state_loads(list).log).log_rows) -%}
    {%- endfor -%}
    {%- do new.update({
        'loads': loads,
        'sequence': manifest.sequence + 1,
        'commit': local_md5(invocation_id)[:8],
        'log_rows': log_rows[0],
        'previous': dict(manifest.previous, log_rows=log_rows[1]),
    }) -%}
    {{ return(new) }}
{%- endmacro -%}


{#- What was written is counted before anybody sees it. -#}
{%- macro _audit_compaction(operated, plan, figures) -%}
    {%- set counts = {plan.history: {}, plan.checkpoint: {}} -%}
    {%- for row in spark_cdc._query(spark_cdc._all_counts_sql(operated.ledger, [plan.history, plan.checkpoint])) -%}
        {%- do counts[row.load_id].update({row.operation: row.row_count | int}) -%}
    {%- endfor -%}
    {%- set problems = [] -%}
    {%- for load_id, wanted in figures.written.items() -%}
        {%- for operation in ['I', 'U', 'D', 'X'] if counts[load_id].get(operation, 0) != wanted.get(operation, 0) -%}
            {%- do problems.append(load_id ~ ' has ' ~ counts[load_id].get(operation, 0) ~ ' rows ' ~ operation ~ ' instead of ' ~ wanted.get(operation, 0)) -%}
        {%- endfor -%}
        {%- if counts[load_id].get('L', 0) != 1 -%}
            {%- do problems.append(load_id ~ ' has ' ~ counts[load_id].get('L', 0) ~ ' records') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if problems -%}
        {% do exceptions.raise_compiler_error(
            operated.entity.name ~ ': what was squashed is not what was there: ' ~ problems | join('; ') ~ '. Nothing was committed and readers '
            ~ "see what they saw before. Run spark-cdc verify --select " ~ operated.entity.name ~ ' to find out what is wrong with the ledger.'
        ) %}
    {%- endif -%}
{%- endmacro -%}
