{#- Squashes the older loads of a ledger into two, so that manifest, partitions and files stay few, while no view changes:
    a history (kind h: all their I, U and D rows, each in the partition of its own business date) and, right after it, a
    checkpoint (kind hc: the whole state after the last of them, as X rows; of change events also the tombstones).
    Histories that earlier calls wrote are kept, so that old rows are not written again and again. The last load is never
    squashed. Without execute it only says what it would do.
        dbt run-operation spark_cdc.compact --args '{entities: [orders], older_than_days: 1, execute: true}'
    Arguments: entities (list of names, or one; none for all), older_than_days (counted back from the business date of the
    last load; 0 for all loads before the last), histories (whether earlier histories are merged into the new one),
    execute. Returns the number of loads that were squashed, or would be. -#}
{%- macro compact(entities=none, older_than_days=30, histories=false, execute=false) -%}
    {%- if older_than_days is not number or older_than_days < 0 -%}
        {% do exceptions.raise_compiler_error(
            "spark_cdc.compact: older_than_days is '" ~ older_than_days ~ "'; accepted are numbers from 0. Nothing was written."
        ) %}
    {%- endif -%}
    {%- set total = namespace(loads=0) -%}
    {%- for operated in spark_cdc._operated_entities('compact', entities) -%}
        {%- set total.loads = total.loads + spark_cdc._compact_entity(operated, older_than_days, histories, execute) -%}
    {%- endfor -%}
    {%- do log(
        'compact: ' ~ ('squashed ' if execute else 'would squash ') ~ spark_cdc._counted(total.loads, 'load')
        ~ ('' if execute or not total.loads else '. Nothing was written: that takes execute: true (--execute)'),
        info=true
    ) -%}
    {{ return(total.loads) }}
{%- endmacro -%}


{%- macro _compact_entity(operated, older_than_days, histories, execute) -%}
    {%- set entity = operated.entity -%}
    {%- set manifest = spark_cdc._head(operated.committed, entity.name) if execute else spark_cdc.read_manifest(operated.committed) -%}
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
    {%- set new_text = spark_cdc.committed_sql(entity, operated.ledger, new_manifest) -%}
    {%- do log(
        entity.name ~ ': ' ~ ('squashes ' if execute else 'would squash ') ~ spark_cdc._counted(plan.squashed | length, 'load') ~ ', '
        ~ plan.squashed[0] ~ ' to ' ~ plan.squashed[-1] ~ ', of ' ~ (manifest.loads | length) ~ '; writes ' ~ figures.history_rows
        ~ ' rows of history and ' ~ figures.state_rows ~ ' of the state; the manifest has ' ~ (new_manifest.loads | length) ~ ' loads and '
        ~ (new_text | length) ~ ' characters instead of ' ~ (manifest.loads | length) ~ ' and ' ~ (spark_cdc.committed_sql(entity, operated.ledger, manifest) | length),
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
    {%- do spark_cdc.record_missing_loads(operated.load_log, entity, operated.ledger, manifest) -%}
    {%- do spark_cdc.publish(entity.name, operated.committed, new_text, new_manifest, plan.history ~ ' and ' ~ plan.checkpoint) -%}
    {%- for record in [history, checkpoint] -%}
        {%- set audit = spark_cdc._figures_of_load(record.load_id, figures.written[record.load_id], figures.rows_prior if loop.first else figures.rows_after) -%}
        {%- do audit.update({'record': record}) -%}
        {%- if entity.events -%}{%- do audit.update({'rows_in': record.events.event_count}) -%}{%- endif -%}
        {%- do spark_cdc._record_load(operated.load_log, entity, record, audit) -%}
    {%- endfor -%}
    {%- do log(entity.name ~ ': squashed into ' ~ plan.history ~ ' and ' ~ plan.checkpoint ~ '; vacuum drops the old partitions later', info=true) -%}
    {{ return(plan.squashed | length) }}
{%- endmacro -%}


{#- Which loads are squashed and what becomes of the list: a function of its arguments, which reads nothing. Returns a
    dictionary: squashed (loads that leave the manifest; none if there are not more than the two that would take
    their place), kept_before
    (earlier histories), kept_after, history and checkpoint (names of the new loads), base and log (of the state after the
    last squashed load), parent (load before the first squashed one, or none). -#}
{%- macro _plan_compaction(entity, loads, older_than_days, histories) -%}
    {%- set plan = {'squashed': [], 'kept_before': [], 'kept_after': [], 'base': none, 'log': []} -%}
    {%- if loads | length < 2 -%}{{ return(plan) }}{%- endif -%}
    {%- set last_date = spark_cdc._load_time(loads[-1]).date() -%}
    {%- for load_id in loads -%}
        {%- set age = (last_date - spark_cdc._load_time(load_id).date()).days -%}
        {%- if loop.last or age < older_than_days -%}
            {%- do plan.kept_after.append(load_id) -%}
        {%- elif spark_cdc._is_history(load_id) and not histories -%}
            {%- do plan.kept_before.append(load_id) -%}
        {%- else -%}
            {%- do plan.squashed.append(load_id) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if plan.squashed | length <= 2 -%}  {#- two loads would take their place -#}
        {%- do plan.update({'squashed': []}) -%}
        {{ return(plan) }}
    {%- endif -%}
    {%- set state = spark_cdc._state_loads(plan.squashed) -%}
    {%- set name = plan.squashed[-1].split('-')[0] -%}
    {%- set attempt = local_md5(invocation_id)[:8] -%}
    {%- do plan.update({
        'history': name ~ '-h-' ~ attempt,
        'checkpoint': name ~ '-hc-' ~ attempt,
        'base': state.base,
        'log': state.log,
        'parent': plan.kept_before[-1] if plan.kept_before else none,
    }) -%}
    {{ return(plan) }}
{%- endmacro -%}


{#- Rows that were written under several definitions (docs/schema_change.md) don't go into one history, whose record could name only one
    of them: of the loads to be squashed those since the last change stay, which begin with a checkpoint. -#}
{%- macro _keep_to_one_definition(plan, records) -%}
    {%- set definition = records.get(plan.squashed[-1], {}).get('definition') -%}
    {%- set first = namespace(at=0) -%}
    {%- for load_id in plan.squashed if records.get(load_id, {}).get('definition') != definition -%}
        {%- set first.at = plan.squashed.index(load_id) + 1 -%}
    {%- endfor -%}
    {%- do plan.kept_before.extend(plan.squashed[:first.at]) -%}
    {%- set rest = plan.squashed[first.at:] -%}
    {%- set state = spark_cdc._state_loads(rest) -%}
    {%- do plan.update({
        'squashed': rest if rest | length > 2 else [],
        'base': state.base,
        'log': state.log,
        'parent': plan.kept_before[-1] if plan.kept_before else none,
    }) -%}
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


{#- The record of one of the two loads. squashed lists the loads that readers saw, also those that earlier histories
    stand for; the checkpoint's stands_for is the last of them, which is the parent of the load that follows. Of change
    events applied is what had been applied before, as in each load's record. -#}
{%- macro _compaction_record(entity, plan, records, figures, is_checkpoint) -%}
    {%- set squashed = [] -%}
    {%- set events = {'event_count': 0, 'late': 0, 'controls': 0, 'unexpected': 0} -%}
    {%- for load_id in plan.squashed -%}
        {%- set record = records[load_id] -%}
        {%- if spark_cdc._is_history(load_id) -%}
            {%- do squashed.extend(record.squashed) -%}
        {%- elif not spark_cdc._is_squashed(load_id) -%}
            {%- do squashed.append(load_id) -%}
        {%- endif -%}
        {%- for name in events if record.get('events') and not (spark_cdc._is_squashed(load_id) and not spark_cdc._is_history(load_id)) -%}
            {%- do events.update({name: events[name] + (record.events.get(name) or 0)}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set last = records[plan.squashed[-1]] -%}
    {%- set record = {
        'entity': entity.name,
        'load_id': plan.checkpoint if is_checkpoint else plan.history,
        'load_type': 'compact',
        'business_time': last.business_time,
        'is_checkpoint': is_checkpoint,
        'parent': plan.history if is_checkpoint else plan.parent,
        'base': none,
        'log': [],
        'prior_rows': figures.rows_after if is_checkpoint else figures.rows_prior,
        'replaced': [] if is_checkpoint else plan.squashed,
        'squashed': [] if is_checkpoint else squashed,
        'stands_for': squashed[-1],
        'started_at': modules.datetime.datetime.now(modules.pytz.utc).strftime('%Y-%m-%d %H:%M:%S.%f'),
        'definition': last.definition,
        'layout': last.get('layout') or {},
        'invocation_id': invocation_id,
        'dbt_version': dbt_version,
        'spark_cdc_version': spark_cdc.version(),
    } -%}
    {%- if entity.events -%}
        {%- set before = records[plan.squashed[0]].get('applied') or {} -%}
        {%- set after = records[plan.kept_after[0]].get('applied') or {} -%}
        {%- if is_checkpoint -%}
            {%- do events.update({'event_count': 0, 'late': 0, 'controls': 0, 'unexpected': 0}) -%}
        {%- endif -%}
        {%- do events.update({'truncated': after.get('truncated'), 'highest': after.get('highest')}) -%}
        {%- do record.update({'applied': after if is_checkpoint else before, 'events': events}) -%}
    {%- endif -%}
    {{ return(record) }}
{%- endmacro -%}


{#- The rows of both loads and the record of the history; few files for each partition. -#}
{%- macro _compacted_rows_sql(operated, plan, columns, history, checkpoint) -%}
{%- set entity = operated.entity -%}
{%- set carried = [] -%}
{%- set names = [] -%}
{%- for column in columns if column.name not in ['note', 'business_date', 'load_id', 'operation'] -%}
    {%- do carried.append(column.sql) -%}
{%- endfor -%}
{%- for column in columns -%}{%- do names.append(column.sql) -%}{%- endfor -%}
select /*+ rebalance(business_date, load_id, operation) */
    {{ names | join(',\n    ') }}
from (
    select
        {% for name in carried -%}
        {{ name }},
        {% endfor -%}
        note,
        business_date,
        {{ spark_cdc._literal(plan.history) }} as load_id,
        operation
    from {{ operated.ledger }}
    where
        {{ spark_cdc._in_loads(plan.squashed) }}
        and operation in {{ spark_cdc.operations('changes') }}

    union all

    select
        {% for name in carried -%}
        {{ name }},
        {% endfor -%}
        cast(null as string) as note,
        {{ spark_cdc._partition(checkpoint) | indent(4) }},
        if(operation in ('D', 'T'), 'T', 'X') as operation
    from (
        {{ spark_cdc.state_sql(
            operated.ledger, spark_cdc._in_loads([plan.base]), spark_cdc._in_loads(plan.log) if plan.log else none,
            carried + ['operation'], false, dead=entity.events is not none) | indent(8) }}
    ) as state

    union all

    select
        {% for column in columns if column.sql in carried -%}
        cast(null as {{ column.data_type }}) as {{ column.sql }},
        {% endfor -%}
        {{ spark_cdc._literal(tojson(history)) }} as note,
        {{ spark_cdc._partition(history) | indent(4) }},
        'L' as operation
) as squashed
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
            ~ "see what they saw before. Run dbt run-operation spark_cdc.verify --args '{entities: [" ~ operated.entity.name
            ~ "]}' to find out what is wrong with the ledger."
        ) %}
    {%- endif -%}
{%- endmacro -%}
