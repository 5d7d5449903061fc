{#- An entity with its relations, as the steps of a load and the operations on ledgers hand it
    on. replay is the view of a draft, load_log is cdc_loads. ledger is where loads are written
    and compared, committed reads public: the same table, but for an entity with sensitive
    columns (docs/sensitive.md). Its ledger and events lie in a restricted schema, and public has
    the ledger's partitions without these columns' values; ledgers are both, each once. What writes
    has `write`, too (of _writing()). Arguments: entity (of _entity()), schema. -#}
{%- macro _context(entity, schema) -%}
    {%- set public = spark_cdc._relation_in(schema, entity.name ~ '_ledger') -%}
    {%- set restricted = spark_cdc._sensitive_schema() if entity.sensitive else none -%}
    {%- set ledger = spark_cdc._relation_in(restricted, entity.name ~ '_ledger_sensitive') if restricted else public -%}
    {{ return({
        'entity': entity,
        'schema': schema,
        'ledger': ledger,
        'public': public,
        'ledgers': [ledger, public] if restricted else [ledger],
        'events': spark_cdc._relation_in(restricted or schema, entity.name ~ '_events' ~ ('_sensitive' if restricted else '')),
        'input': spark_cdc._relation_in(schema, entity.name ~ '_kept_input'),
        'committed': spark_cdc._relation_in(schema, entity.name ~ '_committed'),
        'replay': spark_cdc._relation_in(schema, entity.name ~ '_replay'),
        'load_log': spark_cdc._load_log(),
    }) }}
{%- endmacro -%}


{#- The context that the model at hand belongs to, made once in a run of dbt. -#}
{%- macro _context_of_model() -%}
    {%- set memo, name = spark_cdc._memo(), 'ctx ' ~ model['schema'] ~ '.' ~ spark_cdc._entity_name() -%}
    {%- if name not in memo -%}
        {%- do memo.update({name: spark_cdc._writing(spark_cdc._context(spark_cdc._entity(spark_cdc._entity_name()), model['schema']))}) -%}
    {%- endif -%}
    {{ return(memo[name]) }}
{%- endmacro -%}


{#- Makes what landed for a load readable; refuses the load where files would not be read, or the
    columns are not the declared ones.
    Arguments: entity, landing, time, load (its plan, where no model of the entity runs; empty where
    no load is made of what is read). Returns the files (of _input_files()); none where a table is
    read. -#}
{%- macro _land_load(entity, landing, time, load=none) -%}
    {%- set input = spark_cdc._landing_input(entity, landing, time) -%}
    {%- do log(entity.name ~ ': reading ' ~ input, info=load is none and not spark_cdc._is_of_command_line()) -%}
    {%- if entity.stored | selectattr('format') | list -%}
        {#- Spark 3.5 fails of itself at a text that the parser of Spark 2 would take, and a
            server may be set so; it has to become a rejected row. -#}
        {%- do spark_cdc._set('spark.sql.legacy.timeParserPolicy', 'corrected') -%}
    {%- endif -%}
    {%- set files, refusal = none, none -%}
    {%- if spark_cdc._reads_files(entity) -%}
        {%- set found = spark_cdc._found_by_pattern(entity, [time]) -%}
        {%- set folders = spark_cdc._check_folders(entity, input, time, found) -%}
        {%- set files = spark_cdc._input_files(entity, [time], found)[0] if not folders else none -%}
        {%- set refusal = folders or spark_cdc._check_complete(entity, time, files)
            or spark_cdc._check_files(entity, input, time, found, files) or spark_cdc._check_closed(entity, time) -%}
    {%- endif -%}
    {%- set refusal = refusal or spark_cdc._land(entity, landing, time, files) -%}
    {%- if not refusal and entity.events -%}
        {%- set refusal = spark_cdc._check_event_columns(entity, input) -%}
    {%- endif -%}
    {%- if refusal and load == {} -%}{%- do exceptions.raise_compiler_error(refusal.message) -%}{%- endif -%}
    {%- if refusal -%}
        {%- do spark_cdc._refuse_load(entity, refusal.guard, refusal.message, load) -%}
    {%- endif -%}
    {{ return(files) }}
{%- endmacro -%}


{#- Lands and writes the events of a load, unless <entity>_ledger lands them
    (_is_landed_by_ledger()). Arguments: ctx, sql (of _events_query()). -#}
{%- macro _load_events(ctx, sql) -%}
    {%- set entity, load = ctx.entity, spark_cdc._load_of_comment(sql) -%}
    {%- if not spark_cdc._is_loading(entity.name) -%}
        {{ return(spark_cdc._create_only(ctx, 'events', load)) }}
    {%- endif -%}
    {%- do spark_cdc._memo().update({spark_cdc._written_note(ctx, 'events'): true}) -%}
    {%- if spark_cdc._is_landed_by_ledger(entity) -%}
        {%- do spark_cdc._ensure_table(ctx, 'events', load) -%}
        {%- do store_raw_result('main', message='OK', code='OK', rows_affected='-1') -%}
        {{ return('') }}
    {%- endif -%}
    {%- if spark_cdc._is_archive_replay() -%}
        {#- the archive has to hold as many events as the load had that is rebuilt (it may have been
            switched on later), and name them by hashes that are keyed with the secret of today -#}
        {%- set records = spark_cdc._load_records(ctx.ledger, load.replaced) -%}
        {%- set counted = spark_cdc._query('select count(*) as event_count from ' ~ ctx.events ~ ' where ' ~ spark_cdc._in_loads(load.replaced)) -%}
        {%- set held = counted[0].event_count | int -%}
        {%- for load_id in load.replaced if load_id in records and records[load_id].events.event_count != held -%}
            {%- set message -%}
{{ ctx.entity.name }}: the archive holds {{ held }} events of {{ load.business_time }}, but the load had {# -#}
{{ records[load_id].events.event_count }} ({{ load_id }}): events.archive was set later, or partitions were dropped. Nothing was written. {# -#}
Replay from the landing (leave --source out), or from a date on whose events are archived.
            {%- endset -%}
            {%- do exceptions.raise_compiler_error(message) -%}
        {%- endfor -%}
        {%- set now = spark_cdc._hash_specification_of_key(spark_cdc._hash_specification(ctx.entity)) -%}
        {%- for load_id, record in records.items() -%}
            {%- set then = spark_cdc._hash_specification_of_key(record.definition['hash specification']) -%}
            {%- if then != now and 'secret' in then ~ now -%}
                {%- set message -%}
{{ ctx.entity.name }}: the archived events of {{ load.business_time }} name their rows by hashes of sensitive keys that were made otherwise ({{ then }}, {# -#}
now {{ now }}; {{ load_id }}). Nothing was written. Replay from the landing: leave --source out.
                {%- endset -%}
                {%- do exceptions.raise_compiler_error(message) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- set files = none -%}
    {%- else -%}
        {%- set landed = dict(entity, landed_as=spark_cdc._landed_view(entity) ~ '_all') if 'last_after' in load else entity -%}
        {%- set files = spark_cdc._land_load(landed, spark_cdc._landing_source(entity), spark_cdc._business_time_of(entity.name)) -%}
        {%- if 'last_after' in load -%}
            {%- do spark_cdc._send('create or replace temporary view ' ~ spark_cdc._landed_view(entity) ~ ' as\n'
                ~ spark_cdc._adapter(entity.events.format, '_last')(entity, spark_cdc._landed_view(landed), load.last_after)) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set columns = spark_cdc._ensure_table(ctx, 'events', load) -%}
    {%- do spark_cdc._set_session(ctx.write.events, spark_cdc._is_small_load(load, files)) -%}
    {%- call statement('main') -%}
        {{ spark_cdc._write_rows_sql(ctx.write.events, columns, sql, spark_cdc._in_loads([load.load_id]), 'events_of_load') }}
    {%- endcall -%}
    {%- if 'last_after' in load -%}
        {%- set sql -%}
select
    (select count(*) from {{ spark_cdc._landed_view(landed) }})
    - (select count(*) from {{ ctx.write.events }} where load_id = '{{ load.load_id }}') as superseded
        {%- endset -%}
        {%- do spark_cdc._memo().update({spark_cdc._superseded_note(ctx, load): spark_cdc._query(sql)[0].superseded | int}) -%}
    {%- endif -%}
    {%- if files -%}
        {%- set now = spark_cdc._input_files(entity, [spark_cdc._business_time_of(entity.name)])[0] -%}
        {%- do spark_cdc._check_unchanged(entity, load, files, now, {'files': now}) -%}
    {%- endif -%}
{%- endmacro -%}


{#- The columns of <entity>_events with its partitions, where they lie under a layout. -#}
{%- macro _load_events_columns(entity, layout) -%}
    {{ return(spark_cdc._placed_columns(spark_cdc._event_columns(entity) + [
        {'name': 'business_date', 'sql': 'business_date', 'data_type': 'date'},
        {'name': 'load_id', 'sql': 'load_id', 'data_type': 'string'},
    ], layout, former_keys=true)) }}
{%- endmacro -%}


{#- Lands what came in (change events are there already, in <entity>_events), writes the load, by a
    second statement what is gone where the plan says so, and holds the keys of rejected rows.
    Arguments: ctx, sql (of _ledger_query()). -#}
{%- macro _load_ledger(ctx, sql) -%}
    {%- set entity, load = ctx.entity, spark_cdc._load_of_comment(sql) -%}
    {%- if not spark_cdc._is_loading(entity.name) -%}
        {%- do spark_cdc._create_only(ctx, 'ledger', load) -%}
        {%- if entity.sensitive -%}{%- do spark_cdc._create_only(ctx, 'public', load) -%}{%- endif -%}
        {{ return('') }}
    {%- endif -%}
    {%- do spark_cdc._memo().update({spark_cdc._written_note(ctx, 'ledger'): true}) -%}
    {%- set events = load.get('events') or {} -%}
    {%- set is_small = events.get('event_count', 10 ** 6) < 10 ** 4 and spark_cdc._is_small_load(load, {'bytes': 0}) -%}
    {%- if not entity.events -%}
        {%- set landing = spark_cdc._input_of_load(ctx, load) -%}
        {%- set files = spark_cdc._land_load(entity, landing, spark_cdc._business_time_of(entity.name)) -%}
        {%- set is_small = spark_cdc._is_small_load(load, files) -%}
        {%- set load = dict(load, files=spark_cdc._input_files_noted(files)) -%}
        {%- if entity.archive_input -%}{%- do spark_cdc._keep_input(ctx, load) -%}{%- endif -%}
    {%- endif -%}
    {%- if load.replaced and spark_cdc._reads_whole_table(entity.source) and spark_cdc._replay() is none -%}
        {%- do log(entity.name ~ ': ' ~ load.business_time ~ ' was loaded before, and ' ~ (
            'the load reads the input that was kept of it. To load the present rows, undo it first: spark-cdc undo ' ~ entity.name
            if landing == spark_cdc._kept_view(entity)
            else spark_cdc._landing_source(entity) ~ ' may have changed since: the load reads its present rows'), info=true) -%}
    {%- endif -%}
    {%- set columns = spark_cdc._ensure_table(ctx, 'ledger', load) -%}
    {%- do spark_cdc._set_session(ctx.write.ledger, is_small) -%}
    {%- do spark_cdc._memo().update({'small load of ' ~ entity.name: is_small}) -%}
    {#- the filter of rows that a full snapshot flags asks staging itself, and so does the number of
        a row without a key -#}
    {%- if entity.keyless or (entity.deleted_when and load.load_type == 'full') -%}{%- do spark_cdc._set_for_staging() -%}{%- endif -%}
    {%- set order = spark_cdc._cluster_order(
        entity, columns, ctx.ledger, [load.base] if load.base else [], load.prior_rows) if load.is_checkpoint else none -%}
    {%- if order -%}{%- do spark_cdc._set_file_size([load.prior_rows, (load.files or {}).get("bytes", 0) // 50] | max) -%}{%- endif -%}
    {%- call statement('main') -%}
        {{ spark_cdc._write_loads_sql(ctx.write.ledger, columns, [] if load.get('deletes_separately') else [load], sql, spark_cdc._in_loads([load.load_id]), order) }}
    {%- endcall -%}
    {%- if order -%}{%- do spark_cdc._set_file_size() -%}{%- endif -%}
    {%- if load.get('deletes_separately') -%}{%- do spark_cdc._write_deleted(ctx, load, columns) -%}{%- endif -%}
    {%- set retained = spark_cdc._retained_rows(ctx, load) -%}
    {%- if retained.sql -%}
        {%- do spark_cdc._send(spark_cdc._write_rows_sql(
            ctx.write.ledger, columns, retained.sql, spark_cdc._in_loads([load.load_id]) ~ " and operation = 'X'")) -%}
    {%- endif -%}
    {%- if retained.drops_deletes -%}
        {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(
            ctx.write.ledger, ['business_date=' ~ load.business_time[:10] ~ '/load_id=' ~ load.load_id ~ '/operation=D'])) -%}
    {%- endif -%}
    {%- do spark_cdc._write_masked_ledger(ctx, [load.load_id], load) -%}
{%- endmacro -%}


{#- Keeps what a load of a table as it is now reads in <entity>_kept_input, and has staging read it
    from there: rows that others write meanwhile are in both, or in none. Arguments: ctx, load. -#}
{%- macro _keep_input(ctx, load) -%}
    {%- set entity, kept, columns, values, empty = ctx.entity, spark_cdc._kept_columns(ctx.entity), [], [], [] -%}
    {%- set facts = spark_cdc._table_facts(entity.file_format) -%}
    {%- for column in kept if column.at -%}
        {%- set sql = spark_cdc._quote(column.at) -%}
        {%- set data_type = 'string' if column.type.split('(')[0] in ['char', 'varchar'] else column.type -%}
        {%- set data_type = spark_cdc._type_in(facts, data_type) -%}
        {%- do columns.append({'name': column.at, 'sql': sql, 'data_type': data_type, 'at': column.at, 'at_sql': sql}) -%}
        {%- do values.append(spark_cdc._quote(column.from) ~ ' as ' ~ sql) -%}
        {%- do empty.append('null') -%}
    {%- endfor -%}
    {%- for name, data_type in {'kept': 'string', 'business_date': 'date', 'load_id': 'string'}.items() -%}
        {%- do columns.append({'name': name, 'sql': name, 'data_type': data_type, 'at': name, 'at_sql': name}) -%}
    {%- endfor -%}
    {%- set settled = spark_cdc._ensure_table(ctx, 'input', load, columns) -%}
    {%- set of_load = ["date'" ~ load.business_time[:10] ~ "'", "'" ~ load.load_id ~ "'"] -%}
    {%- set sql -%}
select
    {{ (values + ['cast(null as string) as kept', of_load[0] ~ ' as business_date', of_load[1] ~ ' as load_id']) | join(',\n    ') }}
from {{ spark_cdc._landed_view(entity) }}

union all

select
    {{ (empty + [spark_cdc._literal(tojson(kept))] + of_load) | join(',\n    ') }}
    {%- endset -%}
    {%- do spark_cdc._set_session(ctx.write.input) -%}
    {%- do spark_cdc._send(spark_cdc._write_rows_sql(ctx.write.input, settled, sql, spark_cdc._in_loads([load.load_id]), 'input_of_load')) -%}
    {%- do spark_cdc._send(spark_cdc._kept_view_sql(
        spark_cdc._landed_view(entity), ctx.write.input, load.load_id, kept, ['cast(null as string) as cdc__unparsed'])) -%}
{%- endmacro -%}


{#- Whether the ledger or the events of an entity are missing in a retry: the command has not
    written them, and either dbt names nothing that is selected, as for a retry in a process of
    its own, or it names that model of the run before. Arguments: ctx, kind (ledger or
    events). -#}
{%- macro _is_load_again(ctx, kind) -%}
    {%- if spark_cdc._mode() != 'load' or not spark_cdc._is_loading(ctx.entity.name) or model.get('tested_node_unique_id')
            or spark_cdc._written_note(ctx, kind) in spark_cdc._memo() -%}{{ return(false) }}{%- endif -%}
    {%- set id = model['unique_id'].rsplit('.', 1)[0] ~ '.' ~ ctx.entity.name ~ '_' ~ kind -%}
    {{ return(model['unique_id'] not in selected_resources or id in selected_resources) }}
{%- endmacro -%}


{#- The name in the memo by which this run knows that it has begun to write the ledger, or the
    events, of an entity. -#}
{%- macro _written_note(ctx, kind) -%}{{ return('written: ' ~ ctx.schema ~ '.' ~ ctx.entity.name ~ '_' ~ kind) }}{%- endmacro -%}


{#- The name in the memo of how many messages of a load were left out; entities that are loaded
    together give their loads the same name. -#}
{%- macro _superseded_note(ctx, load) -%}{{ return('superseded: ' ~ ctx.schema ~ '.' ~ ctx.entity.name ~ ' ' ~ load.load_id) }}{%- endmacro -%}


{%- macro _refuse_load_again(run) -%}
    {%- set name = run.entity.name -%}
    {%- set message -%}
{{ name }}: this run has no part of the load of {{ run.load.business_time }} (dbt retry skips what it takes for done). It can add it only where {# -#}
stg_{{ name }} is nothing but spark_cdc.stage() over files or a table. Nothing was written. Load the date:
  {{ spark_cdc._load_command(run.entity, run.load.business_time) }}
    {%- endset -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}


{#- Writes the ledger of the date of a run in which this invocation has not written it, or the
    events: `dbt retry` leaves out what it takes for done, and only an attempt of its own can judge
    the data as they are now. Staging is worked out here, as only stage() can be: a model
    stg_<entity> that does more is refused. -#}
{%- macro _load_skipped_ledger(run) -%}
    {%- set entity, name = run.entity, run.entity.name -%}
    {%- set node, package = spark_cdc.entity_node(name), model['unique_id'].rsplit('.', 1)[0] -%}
    {%- set settings = spark_cdc._settings_of(node) -%}
    {#- what validate() asks of the models that dbt has selected, which a retry does not tell -#}
    {%- set problems = spark_cdc._var_problems() + spark_cdc._entity_problems(name, node)
        + spark_cdc._model_problems(name, settings, package ~ '.' ~ name ~ '_ledger') + spark_cdc._run_problems([(name, settings)]) -%}
    {%- if not spark_cdc._is_plainly_staged(name) -%}{%- do spark_cdc._refuse_load_again(run) -%}{%- endif -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error('Nothing was written:\n  - ' ~ problems | join('\n  - ')) -%}
    {%- endif -%}
    {%- do log(name ~ ': loading ' ~ run.load.business_time ~ ' again, of which this run has not written the ledger', info=true) -%}
    {%- set incoming = run.events if entity.events else '(\n' ~ spark_cdc._stage_sql(entity, spark_cdc._landed_view(entity)) ~ '\n)' -%}
    {%- do spark_cdc._load_ledger(run, spark_cdc._ledger_query(run, incoming)) -%}
{%- endmacro -%}


{#- What <entity>_ledger writes: what came in, compared with the state before it.
    Arguments: run (of _planned_run()), incoming (staging, or <entity>_events). Returns SQL that
    begins with the plan of the load as a comment. -#}
{%- macro _ledger_query(run, incoming) -%}
    {%- set entity = run.entity -%}
    {%- set secrets = spark_cdc._check_secret(run) if spark_cdc._mode() == 'plan' or spark_cdc._is_loading(entity.name) else {} -%}
    {%- set change = spark_cdc._check_definition(run, run.load, not entity.events) or {} -%}
    {%- set load = dict(
        run.load,
        definition=spark_cdc._definition(entity),
        **dict(spark_cdc._run_of_load(), **dict(change, **({'secrets': secrets} if secrets else {})))
    ) -%}
    {#- a plan writes nothing that a second statement could read -#}
    {%- if spark_cdc._deletes_separately(entity, load) and spark_cdc._mode() != 'plan' -%}{%- set load = dict(load, deletes_separately=true) -%}{%- endif -%}
    {%- set prior = load.pop('prior', none) or spark_cdc._laid_out(entity, run.ledger, load.layout) -%}
    {%- do load.pop('keep') -%}
    {%- set compared = dict(run, load=load, prior=prior, broadcast=spark_cdc._is_few(entity, run.manifest.log_rows)) -%}
    {%- if entity.events -%}
        {%- set staged = spark_cdc._staged_events(compared, incoming) -%}
        {%- set load = dict(load, **dict({'events': staged.summary}, **staged.noted)) -%}
        {%- set sql = spark_cdc._classify_events_sql(compared, staged.relation, staged.summary) -%}
    {%- else -%}
        {%- set sql = spark_cdc._classify_rows_sql(compared, incoming) -%}
    {%- endif -%}
/* spark_cdc load: {{ spark_cdc._comment_json(load) }} */
{{ sql }}
{%- endmacro -%}


{#- What <entity>_events writes: the events of the load, as staged or, in a replay from the archive,
    as they were archived.
    Arguments: run (of _planned_run()), incoming (staging). Returns SQL that begins with the
    load's name as a comment. -#}
{%- macro _events_query(run, incoming) -%}
    {%- if spark_cdc._mode() == 'plan' or spark_cdc._is_loading(run.entity.name) -%}{%- do spark_cdc._check_secret(run) -%}{%- endif -%}
    {%- set load = dict(run.load, **(spark_cdc._check_definition(run, run.load) or {})) -%}
    {%- if spark_cdc._is_archive_replay() -%}
        {%- if not load.replaced -%}
            {%- set message -%}
{{ run.entity.name }}: {{ load.business_time }} was never loaded, so its events are not in the archive. Nothing was written. Replay it from the {# -#}
landing: leave spark_cdc_replay.source (--source) out.
            {%- endset -%}
            {%- do exceptions.raise_compiler_error(message) -%}
        {%- endif -%}
        {%- set archived = spark_cdc._archived_events(run.entity, run.events, load.layout) -%}
        {%- set incoming = '(select * from ' ~ archived ~ ' as events where ' ~ spark_cdc._in_loads(load.replaced) ~ ') as archived' -%}
    {%- endif -%}
    {%- set applied = load.applied -%}
    {%- set stages_last = applied.get('repeats') and not applied.get('truncated') and not spark_cdc._is_archive_replay() and spark_cdc._may_stage_last(run.entity) -%}
/* spark_cdc load: {{ spark_cdc._comment_json(dict({
    'load_id': load.load_id, 'business_time': load.business_time, 'replaced': load.replaced, 'layout': load.layout, 'prior_rows': load.prior_rows
}, **({'last_after': applied.highest or []} if stages_last else {}))) }} */
{{ spark_cdc._event_rows_sql(run.entity, load, incoming) }}
{%- endmacro -%}


{#- Where the steps of a load find its events, and what these are like. Events that are read again
    from their source are a temporary view, as long as nothing but plain rows is in it: the types
    are the declared ones, and no event is rejected. The audit holds that the files are what they
    were. All others are written into <entity>_events, so that they are cast and judged once. What
    of a change feed is read is decided here, too, and noted in the record of the load.
    Arguments: run (of _ledger_query()), written (relation <entity>_events, which holds them
    unless they are read again). Returns a dictionary: relation, summary (of _checked_summary();
    where nothing is loaded, as if everything occurred), noted (what the record of the load says
    of it). -#}
{%- macro _staged_events(run, written) -%}
    {%- set load = run.load -%}
    {%- set partition = spark_cdc._laid_out(
        run.entity, written, load.layout, spark_cdc._event_columns(run.entity, load.layout), "load_id = '" ~ load.load_id ~ "'") -%}
    {%- if not spark_cdc._is_landed_by_ledger(run.entity) -%}
        {%- set is_archived = run.entity.source.facts.reads == 'feed' and spark_cdc._is_archive_replay() -%}
        {%- if not spark_cdc._is_load_again(run, 'events') -%}
            {%- set is_planned = spark_cdc._mode() == 'plan' -%}
            {%- set is_loaded = spark_cdc._business_time_of(run.entity.name) is not none and spark_cdc._is_loading(run.entity.name) -%}
            {%- if is_loaded and (model['unique_id'].rsplit('.', 1)[0] ~ '.' ~ run.entity.name ~ '_events') not in selected_resources
                    and spark_cdc._written_note(run, 'events') not in spark_cdc._memo() -%}
                {%- set message -%}
{{ run.entity.name }}: the events of {{ load.business_time }} are not part of this run, since {{ run.entity.name }}_events is not {# -#}
selected. Nothing was written. Load the date:
  {{ spark_cdc._load_command(run.entity, load.business_time) }}
                {%- endset -%}
                {%- do exceptions.raise_compiler_error(message) -%}
            {%- endif -%}
            {%- set superseded = spark_cdc._memo().get(spark_cdc._superseded_note(run, load), 0) -%}
            {%- if not superseded -%}
                {{ return({
                    'relation': partition,
                    'summary': spark_cdc._checked_summary(run, partition) if is_planned or is_loaded else spark_cdc._any_events(),
                    'noted': {'feed': spark_cdc._change_feed_of_replaced(run)} if is_archived else {},
                }) }}
            {%- endif -%}
            {%- set summary = spark_cdc._event_summary(run, partition) -%}
            {%- if spark_cdc._only_last_counts(run.entity, summary) -%}
                {{ return({'relation': partition, 'summary': summary, 'noted': {'events': spark_cdc._summary_of_all(run.entity, summary, superseded)}}) }}
            {%- endif -%}
            {#- more than last messages count: all are staged again -#}
        {%- elif spark_cdc._is_archive_replay() or not spark_cdc._is_plainly_staged(run.entity.name) -%}
            {%- do spark_cdc._refuse_load_again(run) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set run = spark_cdc._run_with_change_feed(run) -%}
    {%- set entity = run.entity -%}
    {%- set files = spark_cdc._land_load(entity, spark_cdc._landing_source(entity), run.time) -%}
    {%- set noted = {'feed': entity.source.feed} if entity.source.facts.reads == 'feed' else {'files': spark_cdc._input_files_noted(files)} -%}
    {%- if spark_cdc._can_be_read_again(entity) and spark_cdc._is_read_again_as_typed(entity) -%}
        {%- set view = spark_cdc._read_again_view(entity) -%}
        {%- do spark_cdc._set_for_staging() -%}
        {%- do spark_cdc._create_read_again_view(entity, load) -%}
        {%- set summary = spark_cdc._checked_summary(run, view) -%}
        {%- if not summary.rejected -%}
            {{ return({'relation': view, 'summary': summary, 'noted': dict(noted, read_again=true)}) }}
        {%- endif -%}
    {%- endif -%}
    {%- set columns = spark_cdc._ensure_table(run, 'events', load) -%}
    {%- do spark_cdc._set_session(run.write.events, spark_cdc._is_small_load(load, files)) -%}
    {%- set sql = spark_cdc._event_rows_sql(entity, load, '(\n' ~ spark_cdc._stage_events_sql(entity, spark_cdc._landed_view(entity)) ~ '\n) as staged') -%}
    {%- do spark_cdc._send(spark_cdc._write_rows_sql(run.write.events, columns, sql, spark_cdc._in_loads([load.load_id]), 'events_of_load')) -%}
    {{ return({'relation': partition, 'summary': spark_cdc._checked_summary(run, partition), 'noted': noted}) }}
{%- endmacro -%}


{#- Audits a load that is written, and makes it visible, or in a replay adds it to the draft. If
    another run has committed since the load was planned, the commit is refused. Arguments: run
    (of _planned_run()). -#}
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
        {%- set text = spark_cdc._manifest_text(run, dict(manifest, commit=spark_cdc._run_id8())) -%}
        {%- do spark_cdc._send(spark_cdc._replace_view_sql(run.replay, text, manifest.existed)) -%}
        {%- do spark_cdc._tell_load(run.entity, load, audit, ' in the draft') -%}
    {%- else -%}
        {%- do spark_cdc._commit_loads(run, manifest, 'load ' ~ load.load_id, [{'load': load, 'audit': audit}], none) -%}
        {%- do spark_cdc._tell_load(run.entity, load, audit) -%}
    {%- endif -%}
    {%- if run.entity.events and not run.entity.events.archive -%}
        {#- their events are in the ledger -#}
        {%- do spark_cdc._drop_loads(run.write.events, manifest.loads[:-1] + load.replaced) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Commits loads that are audited. Arguments: run (its manifest is the one that they build on),
    manifest (with them), what and say as of _transact(), loads (a list of dictionaries: load,
    audit). -#}
{%- macro _commit_loads(run, manifest, what, loads, say) -%}
    {#- a cdc_loads that was just made anew lacks the loads before, too -#}
    {%- set is_new = run.manifest.loads and not (spark_cdc._known(run.load_log) or {}).information and not spark_cdc._is_reset(run.entity.name) -%}
    {%- do spark_cdc._transact(run, {
        'manifest': manifest,
        'before': run.manifest,
        'what': what,
        'rows': (spark_cdc._missing_rows(run, run.manifest) if is_new else []) + loads,
        'say': say,
    }) -%}
{%- endmacro -%}


{#- What a load would come to, as data. Arguments: entity, load (of _plan_load()), audit (of
    _audit_load(); of a refused load as far as it is known), statements (of _planned_statements(),
    or none), refusal (guard and message, or none). -#}
{%- macro _plan_of_load(entity, load, audit, statements=none, refusal=none) -%}
    {%- set record = audit.get('record') or {} -%}
    {%- set events = record.get('events') or {} -%}
    {{ return({
        'entity': entity.name,
        'business_time': load.business_time,
        'load_type': load.load_type,
        'is_checkpoint': load.is_checkpoint,
        'parent': load.parent,
        'replaces': load.replaced,
        'input': spark_cdc._landing_input(
            spark_cdc._entity_of_change_feed(entity, record.get('feed')), spark_cdc._landing_source(entity), spark_cdc._load_time(load.load_id)),
        'files': audit.get('files'),
        'rows_in': audit.get('rows_in'),
        'counts': audit.get('counts'),
        'rows_prior': audit.get('rows_prior'),
        'rows_current': audit.get('rows_current'),
        'events': {'late': events.late, 'control': events.controls, 'unexpected': events.unexpected} if events else none,
        'definition_change': record.get('definition_change'),
        'statements': statements,
        'refused': refusal,
    }) }}
{%- endmacro -%}


{#- The load as JSON, which the compiled SQL of <entity>_events and <entity>_ledger begins with: a
    materialization gets nothing else from its model, so this comment is the contract between the
    two, see macros/models/models.sql. -#}
{%- macro _load_of_comment(sql) -%}
    {{ return(fromjson(sql.partition('/* spark_cdc load: ')[2].partition(' */')[0])) }}
{%- endmacro -%}


{#- What is to be retained of the rows before, now that the rows of the load are there. Returns a
    dictionary: sql (query of the rows, or none), drops_deletes (whether what was tagged D is
    none). -#}
{%- macro _retained_rows(ctx, load) -%}
    {%- set entity, ledger = ctx.entity, ctx.ledger -%}
    {%- if not entity.quarantine or load.load_type != 'full' or load.base is none -%}
        {{ return({'sql': none, 'drops_deletes': false}) }}
    {%- endif -%}
    {%- set sql -%}
select
    count(*) as rejected,
    count_if(key_hash is null) as unreadable
from {{ ledger }}
where load_id = '{{ load.load_id }}' and operation = 'R'
    {%- endset -%}
    {%- set found = spark_cdc._query(sql)[0] -%}
    {%- if found.rejected | int and load.redefines -%}
        {%- set message -%}
{{ entity.name }}: {{ found.rejected }} rows of {{ load.business_time }} are rejected, and the load is the first with the changed columns {# -#}
of stg_{{ entity.name }}: such a load takes none, also with on_reject: quarantine. Nothing was committed and readers see what they saw {# -#}
before. Correct the data, or load a date without rejected rows under the changed columns first.
        {%- endset -%}
        {%- do spark_cdc._refuse_load(entity, 'failed_casts', message, load) -%}
    {%- endif -%}
    {%- set is_retained, unreadable = found.rejected | int > 0, found.unreadable | int > 0 -%}
    {{ return({
        'sql': spark_cdc._retained_sql(dict(ctx, load=load, prior=spark_cdc._laid_out(entity, ledger, load.layout)), unreadable) if is_retained else none,
        'drops_deletes': unreadable,
    }) }}
{%- endmacro -%}


{#- What a load reads of its table's change feed: from where the load before it ended, up to the
    newest version, or where the load that it takes the place of ended, so that a rerun and a
    replay read the same. A first load, and a full snapshot, read all rows of the table as of
    that version. Refuses the load where that can't be read without a gap. Returns a dictionary:
    see _entity_of_change_feed(). -#}
{%- macro _change_feed_of_load(run) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- set table, read = spark_cdc._change_feed_table(entity), load.applied.get('feed') -%}
    {%- set now = spark_cdc._change_feed_adapter(entity, 'now')(table) -%}
    {%- if now.get('problem') -%}{%- do spark_cdc._refuse_change_feed(run, now.problem) -%}{%- endif -%}
    {%- set is_full = entity.load_type == 'full' -%}
    {%- set is_rerun = not spark_cdc._is_reset(entity.name) and load.load_type in spark_cdc._load_types_of_names(load.replaced) -%}
    {%- set replaced = spark_cdc._change_feed_of_replaced(run) if is_rerun else none -%}
    {%- set replaced = none if is_full and replaced and (replaced.id != now.id or replaced.get('is_now') and replaced.to != now.newest) else replaced -%}
    {%- set after = none if is_full else (read or {}).get('to') -%}
    {%- set until = replaced or {'to': now.newest, 'at': now.get('at')} -%}
    {#- a snapshot has the columns that the table had when it was made -#}
    {%- set is_now = after is none and until.to == now.newest and now.get('log', []) | selectattr('snapshot', 'equalto', now.newest) | list | length > 1 -%}
    {%- set feed = {'table': table, 'id': now.id, 'after': after, 'to': until.to, 'at': until.at, 'is_now': is_now} -%}
    {%- set gaps = spark_cdc._failed_rules({'table': table, 'time': load.business_time, 'parent': load.parent}, [
        (not replaced and spark_cdc._loads_with(run.manifest.get('timeline_loads', []), 'time', 'ge', run.time) | length > 0,
         'it is not known up to where %(time)s read the change feed of %(table)s: it was loaded from another source, or never'),
        (not is_full and load.parent and not read,
         'the load before, %(parent)s, did not read the change feed of %(table)s, so it is not known where to begin'),
        (after is not none and read.id != now.id or replaced and replaced.id != now.id,
         '%(table)s is not the table that was read before: it was dropped and made anew, or replaced (`create or replace table`, as dbt runs it for each '
         'run of a model with the table materialization, which is no feed: docs/source_feeds.md), or source.table has changed'),
    ]) -%}
    {%- if gaps -%}{%- do spark_cdc._refuse_change_feed(run, gaps[0], is_gap=true) -%}{%- endif -%}
    {%- set found = spark_cdc._change_feed_adapter(entity, 'range')(
        dict(entity, source=dict(entity.source, feed=feed)), now, read, (load.applied.get('highest') or [none, none])[1]) -%}
    {%- if found.problem -%}{%- do spark_cdc._refuse_change_feed(run, found.problem, is_gap=true) -%}{%- endif -%}
    {%- set of = spark_cdc._change_feed_fields(entity, feed, now, {} if after is none else spark_cdc._change_feed_noted(run.ledger, load.parent)) -%}
    {%- if of.problem -%}{%- do spark_cdc._refuse_change_feed(run, of.problem, is_gap=true) -%}{%- endif -%}
    {{ return(dict(feed, offset=found.offset, number=found.number, fields=of.fields, log=of.log)) }}
{%- endmacro -%}


{#- Refuses a load that can't read a change feed. Arguments: run, problem (what was found; and
    what to do, unless is_gap), is_gap (whether the table itself can be read, so that a full
    snapshot of it leads on). -#}
{%- macro _refuse_change_feed(run, problem, is_gap=false) -%}
    {%- set name, time = run.entity.name, run.load.business_time -%}
    {%- set message -%}
{{ name }}: {{ problem }}. Nothing was written, and readers see what they saw before.
{%- if is_gap and 'replay' in run.manifest %} Replay from a later date, or drop the draft:
  spark-cdc replay {{ name }} --discard
{%- elif is_gap %} To go on, take all rows of the table as they are now, a full snapshot from which later loads read on (docs/source_feeds.md):
  {{ spark_cdc._load_command(run.entity, time, load_type='full') }}
{%- endif -%}
    {%- endset -%}
    {%- do spark_cdc._refuse_load(run.entity, 'change_feed', message, run.load) -%}
{%- endmacro -%}


{#- What the load read that this one takes the place of; none where it read no feed. Loads that
    compact has merged stand in the record of what it wrote. -#}
{%- macro _change_feed_of_replaced(run) -%}
    {%- set replaced = run.load.replaced | last -%}
    {%- set record = spark_cdc._load_records(run.ledger, [replaced]).get(replaced) -%}
    {%- if record -%}{{ return(record.get('feed')) }}{%- endif -%}
    {%- set histories = spark_cdc._loads_with(spark_cdc._current_timeline(run, is_planned=true).loads, 'is_history') -%}
    {%- for compacted in spark_cdc._load_records(run.ledger, histories).values() if replaced in compacted.get('feeds', {}) -%}
        {#- the fields that it found are noted once, with the first of the loads that found them -#}
        {%- set fields = [] -%}
        {%- for load_id, feed in compacted.feeds.items() if load_id <= replaced and feed.get('fields') -%}{%- do fields.append(feed.fields) -%}{%- endfor -%}
        {{ return(dict(compacted.feeds[replaced], **({'fields': fields | last} if fields else {}))) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- What a load, or the checkpoint that compact wrote in its place, noted of its table's columns
    (fields and log, see _entity_of_change_feed()); an empty dictionary where it noted nothing. -#}
{%- macro _change_feed_noted(ledger, load_id) -%}
    {%- set record = spark_cdc._load_records(ledger, [load_id]).get(load_id) or {} -%}
    {%- set feed = record.get('feed') or record.get('last_feed') or {} -%}
    {{ return(dict(feed.items() | selectattr(0, 'in', ['fields', 'log']))) }}
{%- endmacro -%}


{#- A run whose entity knows what it reads of its table's change feed; as it is where the source
    is another one. Argument: run (of _planned_run()). -#}
{%- macro _run_with_change_feed(run) -%}
    {%- if run.entity.source.facts.reads != 'feed' -%}{{ return(run) }}{%- endif -%}
    {{ return(dict(run, entity=spark_cdc._entity_of_change_feed(run.entity, spark_cdc._change_feed_of_load(run)))) }}
{%- endmacro -%}


{#- Says how many rejected rows of some loads have no readable key, of an entity of which keys
    were erased: nobody can tell whether they are rows of these keys, so that loads, replays
    among them, keep them. Arguments: ctx, loads (names). -#}
{%- macro _note_unread_rejects(ctx, loads) -%}
    {%- set name = ctx.entity.name -%}
    {%- if not loads or spark_cdc._erased(ctx.entity) is none -%}{{ return('') }}{%- endif -%}
    {%- set sql -%}
select count(*) as unread
from {{ ctx.ledger }}
where {{ spark_cdc._in_loads(loads) }} and operation = 'R' and key_hash is null
    {%- endset -%}
    {%- set unread = spark_cdc._query(sql)[0].unread | int -%}
    {%- if unread -%}
        {%- do log(name ~ ': ' ~ spark_cdc._counted(unread, 'rejected row') ~ ' without a readable key, in which values of erased keys may stand ('
            ~ ctx.ledger ~ ', operation R). Erase these keys again: spark-cdc erase ' ~ name ~ ' --keys TABLE', info=true) -%}
    {%- endif -%}
{%- endmacro -%}
