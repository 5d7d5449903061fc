{#- Tells what is known of entities, for programs and for spark-cdc: prints a line of JSON (see
    _print_data). Nothing is written. What is committed takes one statement that lists schemas and
    one per schema, whatever the number of entities; dates that have landed take two more for all
    files and one for all tables.
        dbt run-operation spark_cdc.state --args '{entities: [orders], parts: [pending]}'
    Arguments:
        entities (list of names, or one): none for all
        parts (list of names, one, or a dictionary from names to arguments): what to tell beside
            the committed loads
            settings: what is wrong with the settings, and those that a report needs
            pending: dates that have landed and are not committed
            compare: how the draft of a replay differs from the active loads
            diff (before, after, row_limit): rows that differ between two states, see diff()
            files (view): the files that a view reads, see _state_files()
            tags, branches
            added: columns that loads have added and the YAML does not declare, and the YAML file
            log (since, before, row_limit), details (row_limit, change_limit, reject_limit, most):
                what a report shows, see _state_log() and _state_details()
            runs (runs): what cdc_loads has of some runs, and what is new, see _state_runs()
            secrets: those that key hashes, and who uses them
        With these alone, committed loads are not asked for:
            plan: what a load would do, and whether it would be refused
            stream (names): what spark-cdc stream needs; no server is asked
            tests, findings (tests): data tests that verify entities, and their rows
            columns (database, pattern): of the tables of a database
    Prints a dictionary: schema and server (of the target, as lineage tools name it), secrets and
    columns (if asked for), entities (one dictionary each: of _state_of(), broken (what is wrong
    with names and columns, of an entity of which nothing else is known), and its parts by their
    names). -#}
{%- macro state(entities=none, parts=[]) -%}
    {%- do spark_cdc._check_arguments('state', {'entities': entities, 'execute': false}) -%}
    {%- set asked = parts if parts is mapping else dict.fromkeys([parts] if parts is string else parts, {}) -%}
    {%- set known, needs = spark_cdc._state_parts(), [] -%}
    {%- set unknown = asked | reject('in', known) | list -%}
    {%- set accepted = '. Accepted are ' ~ known | join(', ') -%}
    {%- do spark_cdc._stop('state', ["there is no part '" ~ unknown | join("', '") ~ "'" ~ accepted] if unknown else []) -%}
    {%- for part in asked -%}{%- do needs.append(known[part].needs) -%}{%- endfor -%}
    {%- set found = {'contexts': [], 'broken': {}} if needs and needs | unique | list == ['nothing']
        else spark_cdc._contexts_with_timelines('state', entities, not needs or 'timelines' in needs) -%}
    {%- set told, more = {}, {'schema': target.schema, 'server': 'spark://' ~ target.host ~ (':' ~ target.port if target.port else '')} -%}
    {%- for ctx in found.contexts -%}
        {%- set one = spark_cdc._state_of(ctx) if ctx.timeline is defined else {'entity': ctx.entity.name} -%}
        {%- for part, given in asked.items() if 'of_each' in known[part] -%}
            {%- set tell = known[part]['of_each'] -%}
            {%- set data = tell(ctx, **given) -%}
            {%- do one.update({part: data}) if data is not none -%}
        {%- endfor -%}
        {%- do told.update({ctx.entity.name: one}) -%}
    {%- endfor -%}
    {%- for name, problems in found.broken.items() -%}{%- do told.update({name: {'entity': name, 'broken': problems}}) -%}{%- endfor -%}
    {%- for part, given in asked.items() if 'of_all' in known[part] -%}
        {%- set tell = known[part]['of_all'] -%}
        {%- set data = tell(found, **given) -%}
        {%- do more.update({part: data}) if part in ['secrets', 'columns'] -%}
        {%- for name in data if part not in more and (not entities or name in told) -%}
            {%- do told.setdefault(name, {'entity': name}).update({part: data[name]}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- do spark_cdc._print_data(told.values() | list, more) -%}
{%- endmacro -%}


{#- Says that refused loads have been seen, such as one of a mistyped date, which will never be
    loaded: their rows of cdc_loads get the status `acknowledged`, and the report, metrics and
    alerts pass over them. A load of the same date that is refused later is reported again.
        dbt run-operation spark_cdc.acknowledge --args '{dates: [2062-03-01], entities: [orders]}'
    Arguments: dates (list of business dates or times, or one), entities (list of names, or one;
    none for all), execute (whether it is done; else it is only said). Returns nothing. -#}
{%- macro acknowledge(dates, entities=none, execute=true) -%}
    {%- do spark_cdc._check_arguments('acknowledge', {'entities': entities, 'execute': execute}) -%}
    {%- set wanted = [dates] if dates is string or dates is not iterable else dates -%}
    {%- set contexts = spark_cdc._contexts('acknowledge', entities) -%}
    {%- set load_log = spark_cdc._load_log() -%}
    {%- do spark_cdc._ensure_load_log(load_log) -%}
    {%- set load_log = spark_cdc._write_target(load_log) -%}
    {%- set sql -%}
select
    entity,
    business_time,
    load_id
from {{ load_log }}
where status = 'refused' and entity in ({{ spark_cdc._literals((contexts | map(attribute='entity.name') | list) or ['']) }})
order by business_time, load_id
    {%- endset -%}
    {%- set refused = spark_cdc._query(sql) | list -%}
    {%- set chosen, problems = {}, [] -%}
    {%- for date in wanted -%}
        {%- set time = spark_cdc._business_time(date) -%}
        {%- for row in refused if time is not none and spark_cdc._business_time(row.business_time) == time -%}
            {%- do chosen.setdefault(row.entity, []).append(row) -%}
        {%- else -%}
            {%- do problems.append("'%s'%s" % (date, ' is no date that exists' if time is none else '')) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if problems or not wanted -%}
        {%- set there = [] -%}
        {%- for row in refused -%}{%- do there.append(row.entity ~ ' ' ~ row.business_time) -%}{%- endfor -%}
        {%- do spark_cdc._stop('acknowledge', ['no load of ' ~ (problems | join(', ') or 'no date') ~ ' was refused and not acknowledged yet; those that were: '
            ~ (there | unique | join(', ') or 'none')], 'Nothing was changed. spark-cdc acknowledge DATE --select ENTITY takes their dates.') -%}
    {%- endif -%}
    {%- for name, rows in chosen.items() -%}
        {%- do spark_cdc._set_load_status(load_log, 'refused', 'acknowledged', name, rows | map(attribute='load_id') | unique | list) -%}
        {%- do spark_cdc._say(name ~ ': ' ~ ('would acknowledge ' if spark_cdc._mode() == 'plan' else 'acknowledged ') ~ spark_cdc._counted(rows | length, 'refused load') ~ ' of ' ~ rows | map(attribute='business_time') | unique | join(', ')
            ~ '; what is refused again is reported again') -%}
    {%- endfor -%}
{%- endmacro -%}


{#- The parts of state(), by name: of_each (a macro of a ctx: data, or none) or of_all (a macro
    that looks at all at once: a dictionary by entity, or what is of none), and needs (nothing,
    contexts, or timelines, which are contexts with the manifests that readers see). -#}
{%- macro _state_parts() -%}
    {{ return({
        'settings': {'of_each': spark_cdc._state_settings, 'needs': 'timelines'},
        'compare': {'of_each': spark_cdc._state_compare, 'needs': 'timelines'},
        'diff': {'of_each': spark_cdc._state_diff, 'needs': 'timelines'},
        'files': {'of_each': spark_cdc._state_files, 'needs': 'timelines'},
        'tags': {'of_each': spark_cdc._state_tags, 'needs': 'timelines'},
        'added': {'of_each': spark_cdc._state_added, 'needs': 'contexts'},
        'plan': {'of_each': spark_cdc._state_plan, 'needs': 'contexts'},
        'tests': {'of_each': spark_cdc._state_tests, 'needs': 'contexts'},
        'findings': {'of_each': spark_cdc._state_findings, 'needs': 'contexts'},
        'pending': {'of_all': spark_cdc._state_pending, 'needs': 'timelines'},
        'branches': {'of_all': spark_cdc._state_branches, 'needs': 'timelines'},
        'log': {'of_all': spark_cdc._state_log, 'needs': 'timelines'},
        'details': {'of_all': spark_cdc._state_details, 'needs': 'timelines'},
        'runs': {'of_all': spark_cdc._state_runs, 'needs': 'timelines'},
        'secrets': {'of_all': spark_cdc._state_secrets, 'needs': 'timelines'},
        'stream': {'of_all': spark_cdc._state_stream, 'needs': 'nothing'},
        'columns': {'of_all': spark_cdc._state_columns, 'needs': 'nothing'},
    }) }}
{%- endmacro -%}


{#- A part of state(), for spark-cdc new --from-database: the columns of the tables of a database, a
    list of dictionaries named as information_schema.columns has them. Views of temporary life are
    left out. Arguments: database, pattern (as of `show tables like`). -#}
{%- macro _state_columns(found, database, pattern='*') -%}
    {%- if not spark_cdc._has_schema(database) -%}
        {%- do exceptions.raise_compiler_error('There is no database ' ~ database ~ '. Nothing was written. Accepted is one that `show databases` lists, alone '
            ~ 'or with a pattern of table names: shop, or shop.ord*. Correct --from-database.') -%}
    {%- endif -%}
    {%- set columns = [] -%}
    {%- for name in spark_cdc._tables_in(database, pattern) -%}
        {%- set seen = [] -%}
        {#- partition columns come again behind a heading -#}
        {%- for row in spark_cdc._describe(spark_cdc._quote(database) ~ '.' ~ spark_cdc._quote(name))
                if row.col_name and not row.col_name.startswith('#') and row.col_name not in seen -%}
            {%- do seen.append(row.col_name) -%}
            {%- do columns.append({'table_schema': database, 'table_name': name, 'column_name': row.col_name, 'data_type': row.data_type}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- What is committed of an entity, as data: load_type, per (date or timestamp), has_archive,
    reads_feed (whether the source is the change feed of a table, which has no dates of its own),
    reads_whole_table (whether it is a table of which only the present rows are there),
    archives_input (whether loads keep what they read of it),
    times (of the active loads, oldest first) and load_types (of these), rows, last_load, commit
    (its number), undone (times that redo brings back), draft (of a replay, or none). Argument:
    ctx (with timeline and draft, manifests). -#}
{%- macro _state_of(ctx) -%}
    {%- set entity, timeline, draft = ctx.entity, ctx.timeline, ctx.draft -%}
    {%- set loads = spark_cdc._loads_by_date(ctx, timeline.loads) -%}
    {%- set drafted = spark_cdc._draft_times(entity, draft, spark_cdc._loads_by_date(ctx, draft.loads)) if draft.existed else [] -%}
    {{ return({
        'entity': entity.name,
        'load_type': entity.declared_load_type,
        'per': 'date' if entity.eff_type == 'date' else 'timestamp',
        'has_archive': (entity.events or {}).get('archive') or false,
        'reads_feed': entity.source.facts.reads == 'feed',
        'reads_whole_table': spark_cdc._reads_whole_table(entity.source),
        'archives_input': entity.archive_input,
        'times': spark_cdc._load_times(entity, loads),
        'load_types': spark_cdc._load_types_of_names(loads),
        'rows': timeline.rows,
        'last_load': timeline.loads[-1] if timeline.loads else none,
        'commit': timeline.sequence,
        'undone': spark_cdc._load_times(entity, spark_cdc._undone_loads(timeline)),
        'draft': {
            'from': draft.replay['from'],
            'source': draft.replay.source,
            'times': drafted,
            'rows': draft.rows,
            'outdated': spark_cdc._draft_outdated(draft, timeline),
            'missing': spark_cdc._draft_times(entity, draft, loads) | reject('in', drafted) | list,
        } if draft.existed else none,
    }) }}
{%- endmacro -%}


{#- A part of state(): problems (that keep an entity from being loaded, texts), and the settings
    expected_every, guards and maintenance. -#}
{%- macro _state_settings(ctx) -%}
    {%- set entity, node = ctx.entity, ctx.node -%}
    {%- set problems = spark_cdc._entity_problems(entity.name, node)
        + spark_cdc._model_problems(entity.name, spark_cdc._settings_of(node), ctx.ledger_node.unique_id) -%}
    {{ return({'problems': problems, 'expected_every': entity.expected_every, 'guards': entity.guards, 'maintenance': entity.maintenance}) }}
{%- endmacro -%}


{#- A part of state(): dates in the landing or the source table that are not committed. Those
    before the last committed load are gaps, which take a replay; dates that undo took back wait
    for a person, and so do those after them, since a later load drops what redo restores.
    Returns a dictionary by entity: problems (that keep it from being loaded; what has landed is
    then not asked), expected_every, landed (number of dates), dates, gaps and incomplete (texts;
    these wait for source.complete_when), problem
    (why the dates can't be told, or none), absent (why nothing has landed, if that is no
    idleness, or none). -#}
{%- macro _state_pending(found) -%}
    {%- set told, asked, since = {}, [], {} -%}
    {%- for ctx in found.contexts -%}
        {%- set problems = spark_cdc._state_settings(ctx).problems -%}
        {%- do told.update({ctx.entity.name: {'problems': problems}}) -%}
        {%- if not problems -%}
            {%- do asked.append(ctx) -%}
            {%- do since.update({ctx.entity.name: spark_cdc._load_time(ctx.timeline.loads[-1]) if ctx.timeline.loads else none}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set landed = spark_cdc._landed_times(asked, since) -%}
    {%- for ctx in asked -%}
        {%- set entity, loads = ctx.entity, ctx.timeline.loads -%}
        {%- set last, came = since[entity.name], landed[entity.name] -%}
        {#- which dates compact has merged is not asked: there are no gaps to be told of among
            them -#}
        {%- set compacted = spark_cdc._loads_with(loads, 'is_compacted') -%}
        {%- set from = spark_cdc._load_time(compacted[-1]) if compacted else none -%}
        {%- set committed = spark_cdc._load_times(entity, loads) -%}
        {%- set dates, gaps = [], [] -%}
        {%- for time in came.times -%}
            {%- set text = spark_cdc._time_text(entity, time) -%}
            {%- if last is none or time > last -%}
                {%- do dates.append(text) -%}
            {%- elif text not in committed and (from is none or time > from) -%}
                {%- do gaps.append(text) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- do told[entity.name].update({
            'expected_every': entity.expected_every, 'landed': came.times | length, 'dates': dates, 'gaps': gaps, 'incomplete': came.incomplete,
            'problem': came.problem, 'absent': came.absent,
        }) -%}
    {%- endfor -%}
    {{ return(told) }}
{%- endmacro -%}


{#- A part of state(): what the manifests and cdc_loads hold of each entity, also of those that
    cdc_loads alone still knows; two statements read cdc_loads, and a load's row is read only if
    its partition is within the range. Arguments: since and before (stamps as loads' names begin
    with, such as 20240304: the first that is read, and the first that is not; or none),
    row_limit (rows of cdc_loads, the newest of each entity). Returns a dictionary by entity:
    loads and undone (names), checkpoint (the newest), rows (a text of JSON: the columns of
    cdc_loads as arrays, oldest load first; or none). -#}
{%- macro _state_log(found, since=none, before=none, row_limit=400) -%}
    {%- set told = {} -%}
    {%- for ctx in found.contexts -%}
        {%- set timeline = ctx.timeline -%}
        {%- do told.update({ctx.entity.name: {
            'loads': timeline.loads, 'undone': spark_cdc._undone_loads(timeline), 'checkpoint': spark_cdc._state_loads(timeline.loads).base, 'rows': none,
        }}) -%}
    {%- endfor -%}
    {%- set load_log = spark_cdc._load_log_there() -%}
    {%- if load_log is not none -%}
        {%- set recorded = adapter.get_columns_in_relation(load_log) | map(attribute='name') | list -%}
        {%- for row in spark_cdc._query(spark_cdc._logged_loads_sql(load_log, recorded, found.wanted, since, before, row_limit)) -%}
            {%- do told.setdefault(row.entity, {}).update({'rows': row.logged}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(told) }}
{%- endmacro -%}


{#- cdc_loads, if it is there; none. -#}
{%- macro _load_log_there() -%}
    {%- set load_log = spark_cdc._load_log() -%}
    {{ return(load_log if load_log is not none and spark_cdc._has_schema(load_log.schema) and spark_cdc._is_there(load_log) else none) }}
{%- endmacro -%}


{#- Rows of cdc_loads as a row an entity, whose second column is JSON. Arguments: load_log,
    recorded (names of its columns: what an older version did not record is null), and entities
    (list of names; none for all), and those of _state_log(). -#}
{%- macro _logged_loads_sql(load_log, recorded, entities, since, before, row_limit) -%}
{%- set shown = {
    'status': "coalesce(status, 'committed')", 'committed_at': 'unix_seconds(committed_at)', 'started_at': 'unix_seconds(started_at)',
    'duration_seconds': 'round(duration_seconds, 1)', 'message': 'left(message, 1500)',
} -%}
{%- set names = [
    'load_id', 'business_time', 'load_type', 'status', 'is_checkpoint', 'replaced_load_ids', 'rows_in', 'rows_rejected', 'rows_inserted', 'rows_updated',
    'rows_deleted', 'rows_unchanged', 'rows_not_supplied', 'rows_prior', 'rows_current', 'started_at', 'committed_at', 'duration_seconds', 'events_late',
    'guard', 'message', 'definition_change', 'input_files', 'input_bytes', 'rules',
] -%}
{%- set conditions = ['true'] -%}
{%- if entities is not none -%}{%- do conditions.append('entity in (' ~ spark_cdc._literals(entities or ['']) ~ ')') -%}{%- endif -%}
{%- if since -%}{%- do conditions.append('load_id >= ' ~ spark_cdc._literal(since)) -%}{%- endif -%}
{%- if before -%}
    {#- what compacted a load of the range tells that it counts -#}
    {%- do conditions.append('(load_id < ' ~ spark_cdc._literal(before) ~ " or instr(load_id, '-h') > 0)") -%}
{%- endif -%}
with loads as (
    select
        entity,
        -- by business time, then as they came
        substring_index(load_id, '-', 1) as business_stamp,
        coalesce(started_at, timestamp'1970-01-01') as begun_at,
        struct(
            {%- for name in names %}
            {{ (shown.get(name, name) if name in recorded else 'null') ~ ' as ' ~ name }}{{ ',' if not loop.last }}
            {%- endfor %}
        ) as details
    from {{ load_log }}
    where {{ conditions | join(' and ') }}
),

numbered as (
    select
        *,
        row_number() over (partition by entity order by business_stamp desc, begun_at desc, details.load_id desc) as place
    from loads
),

collected as (
    select
        entity,
        sort_array(collect_list(struct(-place as place, details))) as sorted
    from numbered
    where place <= {{ row_limit }} or details.load_type = 'compact'
    group by entity
)

select
    entity,
    to_json(
        struct(
            {%- for name in names %}
            transform(sorted, one -> one.details.{{ name }}) as {{ name }}{{ ',' if not loop.last }}
            {%- endfor %}
        )
    ) as logged
from collected
{%- endmacro -%}


{#- A part of state(): what takes reads of the ledgers. Each statement asks it of all entities.
    Arguments: row_limit (rows shown of each kind that the last load changed; 0 for no values at
    all), change_limit (a last load with more changed rows is not compared), reject_limit (rejected
    rows shown, the newest), most (of more entities with loads nothing is told; none for any
    number). Returns a dictionary by entity with a load, each a dictionary: changes (counts of
    rows, columns, rows, or skipped: why not); files of the ledger; rejects and rejected_rows;
    compact (how many loads that command would merge with its own defaults). -#}
{%- macro _state_details(found, row_limit=5, change_limit=100000, reject_limit=200, most=none) -%}
    {%- set contexts, told = [], {} -%}
    {%- for ctx in found.contexts if ctx.timeline.loads -%}{%- do contexts.append(spark_cdc._writing(ctx)) -%}{%- endfor -%}
    {%- if most is not none and contexts | length > most -%}{{ return(told) }}{%- endif -%}
    {%- for ctx in contexts -%}
        {%- set merged = spark_cdc._plan_compaction(ctx.timeline.loads, 30, false).compacted -%}
        {%- do told.update({ctx.entity.name: {'compact': merged | length, 'files': [], 'rejects': [], 'rejected_rows': []}}) -%}
    {%- endfor -%}
    {%- do spark_cdc._add_files_of_ledgers(told, contexts) -%}
    {%- do spark_cdc._add_changes_of_last_loads(told, contexts, row_limit, change_limit) -%}
    {%- do spark_cdc._add_rejects(told, contexts, reject_limit if row_limit else 0) -%}
    {{ return(told) }}
{%- endmacro -%}


{#- The rows of the same query of several entities, by one statement. Arguments: queries (by
    entity), order (of the rows of each one). Returns dictionaries, each with its entity. -#}
{%- macro _query_of_each(queries, order) -%}
    {%- if not queries -%}{{ return([]) }}{%- endif -%}
    {%- set parts = [] -%}
    {%- for name, sql in queries.items() -%}
        {%- do parts.append('select ' ~ spark_cdc._literal(name) ~ ' as entity, * from (\n    ' ~ sql | trim | indent(4) ~ '\n)') -%}
    {%- endfor -%}
    {{ return(spark_cdc._query('select * from (\n' ~ parts | join('\nunion all\n') ~ '\n) order by entity, ' ~ order)) }}
{%- endmacro -%}


{#- Adds what is in the folders of the ledgers and, of change events, of the events tables: files,
    a dictionary each with table, is_needed (whether a load that counts wrote them), files,
    bytes. -#}
{%- macro _add_files_of_ledgers(told, contexts) -%}
    {%- set tables, parts = {}, [] -%}
    {%- for ctx in contexts -%}
        {%- for ledger in ctx.ledgers if spark_cdc._known(ledger) is none -%}
            {%- do exceptions.raise_compiler_error(
                ctx.entity.name ~ ': the table ' ~ ledger ~ ' is not there. spark-cdc verify --select ' ~ ctx.entity.name ~ ' says how to repair it'
            ) -%}
        {%- endfor -%}
        {%- set kept = [ctx.write.input] if ctx.entity.archive_input else [] -%}
        {%- for table in [ctx.write.ledger, ctx.write.public, ctx.write.events] | select | unique | list + kept -%}
            {%- do tables.setdefault(table.schema, {}).update({table.identifier | lower: {'table': table, 'ctx': ctx}}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- for schema, of_schema in tables.items() -%}
        {%- for row in spark_cdc._shown_in(schema, of_schema | join('|')) if spark_cdc._location_in(row.information) -%}
            {%- set one = of_schema[row.tableName | lower] -%}
            {%- set view = 'spark_cdc_files_' ~ parts | length -%}
            {%- set sql -%}
select
    {{ spark_cdc._literal(one.ctx.entity.name) }} as entity,
    {{ spark_cdc._literal(one.table.identifier) }} as table_name,
    {{ spark_cdc._in_loads(one.ctx.timeline.loads) }} as is_needed,
    length
from {{ spark_cdc._files_of_table(one.table, spark_cdc._location_in(row.information), view) }}
where load_id <> ''
            {%- endset -%}
            {%- do parts.append(sql) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set sql -%}
select
    entity,
    table_name,
    is_needed,
    count(*) as files,
    sum(length) as bytes
from (
    {{ parts | join('\nunion all\n') | indent(4) }}
)
group by entity, table_name, is_needed
order by entity, table_name, is_needed desc
    {%- endset -%}
    {%- for row in (spark_cdc._query(sql) if parts else []) -%}
        {%- do told[row.entity].files.append(
            {'table': row.table_name, 'is_needed': row.is_needed, 'files': row.files | int, 'bytes': row.bytes | int}) -%}
    {%- endfor -%}
{%- endmacro -%}


{#- Adds what the last load changed: by column, and some rows of each kind with their values before
    and after. -#}
{%- macro _add_changes_of_last_loads(told, contexts, row_limit, change_limit) -%}
    {%- set queries, differences, changed = {}, {}, {} -%}
    {%- for ctx in contexts -%}
        {%- set entity, loads = ctx.entity, ctx.timeline.loads -%}
        {%- set changes = {'load_id': loads[-1], 'counts': {}, 'columns': {}, 'rows': []} -%}
        {%- do told[entity.name].update({'changes': changes}) -%}
        {%- if loads | length == 1 -%}
            {%- do changes.update({'skipped': 'It is the first load: all rows are new.'}) -%}
        {%- elif not spark_cdc._has_columns_of(entity, ctx.timeline.definition) -%}
            {%- do changes.update({'skipped': 'The columns of stg_' ~ entity.name ~ ' are not those of the last load.'}) -%}
        {%- else -%}
            {%- set sql -%}
select count(*) as row_count
from {{ ctx.public }}
where {{ spark_cdc._in_loads(loads[-1:]) }} and operation in {{ spark_cdc._operations('changes') }}
            {%- endset -%}
            {%- do queries.update({entity.name: sql}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for row in spark_cdc._query_of_each(queries, 'row_count') -%}
        {%- do changed.update({row.entity: row.row_count | int}) -%}
        {%- if row.row_count | int > change_limit -%}
            {%- set skipped = 'It changed ' ~ row.row_count ~ ' rows; up to ' ~ change_limit ~ ' are compared.' -%}
            {%- do told[row.entity].changes.update({'skipped': skipped}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for ctx in contexts if changed.get(ctx.entity.name, 0) > 0 and changed[ctx.entity.name] <= change_limit -%}
        {%- set loads, ledger = ctx.timeline.loads, spark_cdc._across_changes(ctx.entity, ctx.public, ctx.timeline.layout) -%}
        {%- set sql = spark_cdc._diff_sql(ctx.entity, ledger, loads[:-1], loads) -%}
        {%- do differences.update({ctx.entity.name: spark_cdc._changed_rows_sql(ctx.entity, sql, row_limit)}) -%}
    {%- endfor -%}
    {%- for row in spark_cdc._query_of_each(differences, 'row_difference, place, column_name') -%}
        {%- set changes = told[row.entity].changes -%}
        {%- if row.shown -%}
            {%- do changes.rows.append(fromjson(row.shown)) -%}
        {%- else -%}
            {%- do (changes.columns if row.column_name else changes.counts).update({row.column_name or row.row_difference: row.row_count | int}) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}


{#- Counts of rows by what became of them (without a column_name), of values by column, and as
    JSON some rows of each kind (shown): row_difference, keys, column_differences. Long values
    are cut. place: in which order to show them. One query, since what differs is worked out anew
    wherever it is named. -#}
{%- macro _changed_rows_sql(entity, differences, row_limit) -%}
{%- set keys = entity.key_columns | map(attribute='sql') | list -%}
with differences as (
    {{ differences | indent(4) }}
),

numbered as (
    select
        *,
        row_number() over (partition by row_difference order by {{ keys | join(', ') or 'key_hash' }}) as cdc__place
    from differences
),

told as (
    select
        row_difference,
        cdc__place,
        explode(
            concat(
                array(struct('' as column_name, cast(null as string) as shown)),
                if(
                    row_difference = 'changed',
                    transform(column_differences, one -> struct(one.column_name as column_name, cast(null as string) as shown)),
                    array()
                ),
                if(
                    cdc__place <= {{ row_limit }},
                    array(
                        struct(
                            '' as column_name,
                            to_json(
                                struct(
                                    row_difference,
                                    {{ 'struct(' ~ keys | join(', ') ~ ') as keys' if keys else 'key_hash' }},
                                    transform(
                                        column_differences,
                                        one -> struct(
                                            one.column_name as column_name, left(one.value_before, 200) as value_before, left(one.value_after, 200) as value_after
                                        )
                                    ) as column_differences
                                )
                            ) as shown
                        )
                    ),
                    array()
                )
            )
        ) as one
    from numbered
)

select
    row_difference,
    one.column_name,
    one.shown,
    count(*) as row_count,
    min(cdc__place) as place
from told
group by row_difference, one.column_name, one.shown
{%- endmacro -%}


{#- Adds the rejected rows of the active loads: rejects (the ten most frequent columns that rows
    were rejected for: columns, row_count), rejected_rows (the newest, at most reject_limit: load,
    columns, rules, reason and row, the last two cut at 500 characters). -#}
{%- macro _add_rejects(told, contexts, reject_limit) -%}
    {%- set counted, newest = {}, {} -%}
    {%- for ctx in contexts if ctx.entity.quarantine -%}
        {%- set rejects = spark_cdc._rejects_sql(ctx.entity, ctx.public, ctx.committed, ctx.timeline.layout) | indent(4) -%}
        {%- set counted_sql -%}
select
    rejected_columns,
    count(*) as row_count
from (
    {{ rejects }}
) as rejects
group by rejected_columns
order by row_count desc
limit 10
        {%- endset -%}
        {%- set newest_sql -%}
select
    load_id,
    rejected_columns,
    {{ 'rejected_rules' if ctx.entity.rules else "''" }} as rules,
    left(rejected_reason, 500) as reason,
    left(rejected_row, 500) as row_text
from (
    {{ rejects }}
) as rejects
order by load_id desc, rejected_columns, row_text
limit {{ reject_limit }}
        {%- endset -%}
        {%- do counted.update({ctx.entity.name: counted_sql}) -%}
        {%- if reject_limit -%}{%- do newest.update({ctx.entity.name: newest_sql}) -%}{%- endif -%}
    {%- endfor -%}
    {%- for row in spark_cdc._query_of_each(counted, 'row_count desc') -%}
        {%- do told[row.entity].rejects.append({'columns': row.rejected_columns, 'row_count': row.row_count | int}) -%}
    {%- endfor -%}
    {%- for row in spark_cdc._query_of_each(newest, 'load_id desc, rejected_columns, row_text') -%}
        {%- do told[row.entity].rejected_rows.append(
            {'load': row.load_id, 'columns': row.rejected_columns, 'rules': row.rules, 'reason': row.reason, 'row': row.row_text}) -%}
    {%- endfor -%}
{%- endmacro -%}


{#- A part of state(), for notices and metrics (docs/notify.md): what cdc_loads has of some runs,
    and what is new since the last load of each entity. One statement, which reads these partitions
    alone. Arguments: runs (dbt's invocation ids). Returns a dictionary by entity: rows (of
    cdc_loads, each as a text of JSON), places (by load, where its input lies: {table}, {path}, or
    none of the change feed of a table), and of an entity of the project, also of one that is
    broken, last (business time, or none). -#}
{%- macro _state_runs(found, runs=[]) -%}
    {%- set committed, entities, told, wanted, attempts = {}, {}, {}, [], [] -%}
    {%- for ctx in found.contexts -%}
        {%- do committed.update({ctx.entity.name: ctx.timeline.loads}) -%}
        {%- do entities.update({ctx.entity.name: ctx.entity}) -%}
    {%- endfor -%}
    {%- set broken = {} -%}
    {%- for name, node, ledger in spark_cdc._entity_nodes() if name in found.broken -%}
        {%- do broken.update({name: graph.nodes[ledger].schema}) -%}
    {%- endfor -%}
    {%- set texts = spark_cdc._committed_texts(broken.values()) if broken else {} -%}
    {%- for name, schema in broken.items() -%}
        {%- set view = schema ~ '.' ~ name ~ '_committed' -%}
        {%- do committed.update({name: spark_cdc._parse_manifest(texts[view], view).loads if view in texts else []}) -%}
    {%- endfor -%}
    {%- for name, loads in committed.items() -%}
        {%- set newer = " and load_id >= '" ~ loads[-1].split('-')[0] ~ "'" if loads else '' -%}
        {%- do wanted.append('(entity = ' ~ spark_cdc._literal(name) ~ newer ~ ')') -%}
        {%- do told.update({name: {'last': spark_cdc._load_time(loads[-1]).strftime('%Y-%m-%d %H:%M:%S') if loads else none, 'rows': [], 'places': {}}}) -%}
    {%- endfor -%}
    {%- for run in runs -%}{%- do attempts.append(local_md5(run)[:8]) -%}{%- endfor -%}
    {%- if attempts -%}{%- do wanted.append('right(load_id, 8) in (' ~ spark_cdc._literals(attempts) ~ ')') -%}{%- endif -%}
    {%- set load_log = spark_cdc._load_log_there() -%}
    {%- if load_log is not none and wanted -%}
        {%- set sql -%}
select
    entity,
    load_id,
    to_json(struct(*)) as load
from {{ load_log }}
where
    {{ wanted | join('\n    or ') }}
        {%- endset -%}
        {%- for row in spark_cdc._query(sql) -%}
            {%- set one = told.setdefault(row.entity, {'rows': [], 'places': {}}) -%}
            {%- do one.rows.append(row.load) -%}
            {%- if row.entity in entities -%}
                {%- set entity = entities[row.entity] -%}
                {%- set landing = spark_cdc._landing_source(entity) if entity.source.facts.reads == 'table' else none -%}
                {%- do one.places.update({row.load_id: {'table': landing.schema ~ '.' ~ landing.identifier} if landing
                    else {'path': spark_cdc._landing_path(entity, [spark_cdc._load_time(row.load_id)])} if entity.source.facts.reads != 'feed' else none}) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(told) }}
{%- endmacro -%}


{#- A part of state(): what spark-cdc stream has to know of entities; no server is asked. Argument:
    names (of entities; none for all with source.stream). Returns a dictionary by entity, of all:
    problems (of its YAML), stream (its settings; none where there are none), and, if it is asked
    for and has no problems, load_type, per, path (of a business date, each with the letters of
    strftime). -#}
{%- macro _state_stream(found, names=[]) -%}
    {%- set told = {} -%}
    {%- for name, node, ledger in spark_cdc._entity_nodes() -%}
        {%- set source = spark_cdc._settings_of(node).get('source') -%}
        {%- set stream = source.stream if source is mapping and source.get('stream') is mapping else none -%}
        {%- set is_asked = name in names if names else stream is not none -%}
        {%- set one = {'problems': spark_cdc._entity_problems(name, node) if is_asked else [], 'stream': stream} -%}
        {%- if is_asked and not one.problems -%}
            {%- set entity = spark_cdc._described_entity(name, node, as_declared=true) -%}
            {%- set default = '{business_date:' ~ ('%Y-%m-%d' if entity.eff_type == 'date' else '%Y-%m-%dT%H%M%S') ~ '}' -%}
            {%- do one.update({
                'load_type': entity.load_type,
                'per': 'date' if entity.eff_type == 'date' else 'timestamp',
                'path': entity.source.path | replace('{business_date}', default) if entity.source.path else none,
                'stream': spark_cdc._completed(stream, spark_cdc._known_settings().entity.source.settings.stream.settings) if stream is not none else none,
            }) -%}
        {%- endif -%}
        {%- do told.update({name: one}) -%}
    {%- endfor -%}
    {{ return(told) }}
{%- endmacro -%}


{#- A part of state(): columns that loads have added and the YAML does not declare (columns, names
    to types), and the YAML file (file, a path in its project). -#}
{%- macro _state_added(ctx) -%}
    {{ return({'columns': ctx.entity.added, 'file': (ctx.node.patch_path or '').split('://')[-1]}) }}
{%- endmacro -%}


{#- A part of state(), for spark-cdc load --dry-run: what a load would do, see _plan_of_load(). What
    came in is landed, staged and tagged by the load's own SQL, behind a temporary view of the
    session that stands for the ledger with this load in it: it is audited as if it had been
    written. A refusal is printed as the entity's plan, with what was known, and then raised. The
    business date, load type, position and skipped guards are those of a run. -#}
{%- macro _state_plan(ctx) -%}
    {%- set ctx = spark_cdc._contexts('plan', ctx.entity.name) | first -%}
    {%- set name = ctx.entity.name -%}
    {%- set settings = spark_cdc._settings_of(spark_cdc.entity_node(name)) -%}
    {#- as validate() asks at the start of a run -#}
    {%- set problems = spark_cdc._var_problems() + spark_cdc._model_problems(name, settings, ctx.ledger_node.unique_id)
            + spark_cdc._run_problems([(name, settings)]) -%}
    {%- if not spark_cdc._is_plainly_staged(name) -%}
        {%- do problems.append('stg_' ~ name ~ ' is more than spark_cdc.stage(), which is all that a plan reads. Load the date (spark-cdc load), and undo it if need be.') -%}
    {%- endif -%}
    {%- if problems -%}
        {%- do spark_cdc._refuse_settings('A load would be refused before anything is written:\n  - ' ~ problems | join('\n  - ')) -%}
    {%- endif -%}
    {%- set run = spark_cdc._run_with_change_feed(spark_cdc._planned_run(ctx)) -%}
    {%- set entity = run.entity -%}
    {%- set landing = spark_cdc._landing_source(entity) if entity.events else spark_cdc._input_of_load(run, run.load) -%}
    {%- set files = spark_cdc._land_load(entity, landing, run.time, run.load) -%}
    {%- do spark_cdc._set_for_staging() -%}
    {%- set incoming = spark_cdc._plan_view('staged_' ~ name,
            (spark_cdc._stage_events_sql if entity.events else spark_cdc._stage_sql)(entity, spark_cdc._landed_view(entity))) -%}
    {%- if entity.events -%}
        {#- A load writes its events down before it resolves them; here Spark's optimizer would
            put all that reads and casts a message in the place of each of its columns, wherever
            one is read, until the expressions fill the heap. It does not look into a generator. -#}
        {%- set names = [] -%}
        {%- for column in spark_cdc._describe(incoming) -%}{%- do names.append(spark_cdc._quote(column.col_name)) -%}{%- endfor -%}
        {%- set names = names | join(', ') -%}
        {%- set incoming = spark_cdc._plan_view('read_' ~ name, 'select stack(1, ' ~ names ~ ') as (' ~ names ~ ')\nfrom ' ~ incoming) -%}
        {%- set query = spark_cdc._events_query(run, incoming) -%}
        {%- set columns = spark_cdc._load_events_columns(entity, spark_cdc._load_of_comment(query).layout) -%}
        {%- set incoming = spark_cdc._plan_view('planned_' ~ name ~ '_events', spark_cdc._written_rows_sql(columns, query, 'events_of_load')) -%}
        {%- set run = dict(run, events=incoming) -%}
    {%- endif -%}
    {%- set query = spark_cdc._ledger_query(run, incoming) -%}
    {%- set load = dict(
        spark_cdc._load_of_comment(query),
        files=spark_cdc._input_files_noted(files),
        feed=entity.source.get('feed'),
    ) -%}
    {%- set columns = spark_cdc._ledger_columns(entity, load.layout) -%}
    {%- set planned = spark_cdc._planned_ledger(run, columns, [load], query) -%}
    {%- set retained = spark_cdc._retained_rows(dict(run, ledger=planned), load) -%}
    {%- if retained.sql -%}
        {%- set written = 'select * from ' ~ planned ~ (" where not (load_id = '" ~ load.load_id ~ "' and operation = 'D')" if retained.drops_deletes)
            ~ '\n\nunion all\n\n' ~ spark_cdc._written_rows_sql(columns, retained.sql, 'held_rows') -%}
        {%- set planned = spark_cdc._plan_view('planned_' ~ name ~ '_held', written) -%}
    {%- endif -%}
    {%- set audit = spark_cdc._audited_load(dict(run, ledger=planned)).audit -%}
    {{ return(spark_cdc._plan_of_load(entity, run.load, audit, spark_cdc._planned_statements(ctx, run, load, retained))) }}
{%- endmacro -%}


{#- The ledger with loads in it that are only planned, as a temporary view: they are audited as if
    they were written. Arguments: run, columns (that the ledger would have), loads (their plans),
    sql (query of the rows of all). Returns the view's name. -#}
{%- macro _planned_ledger(run, columns, loads, sql) -%}
    {%- set written, shown = spark_cdc._rows_and_records_sql(columns, loads, sql), [] -%}
    {%- if run.manifest.existed and spark_cdc._is_there(run.ledger) -%}
        {%- set there = spark_cdc._found_names(run.ledger) -%}
        {%- for column in columns -%}
            {%- do shown.append(column.at_sql if column.at | lower in there else 'cast(null as ' ~ column.data_type ~ ') as ' ~ column.at_sql) -%}
        {%- endfor -%}
        {%- set written = 'select\n    ' ~ shown | join(',\n    ') ~ '\nfrom ' ~ run.ledger ~ '\n\nunion all\n\n' ~ written -%}
    {%- endif -%}
    {{ return(spark_cdc._plan_view('planned_' ~ run.entity.name, written)) }}
{%- endmacro -%}


{#- The statements of a load that write its rows, commit and record them, by their beginnings and
    in their order. Schemas, views of readers and claims of commits before are not among them.
    Arguments: ctx, run (of _planned_run()), load (its plan), retained (of _retained_rows()).
    -#}
{%- macro _planned_statements(ctx, run, load, retained) -%}
    {%- set entity, statements, outdated = ctx.entity, [], [] -%}
    {%- set is_begun = spark_cdc._has_schema(ctx.schema) -%}
    {%- set ctx = dict(ctx, **ctx.write) -%}
    {%- set tables = ([(ctx.events, spark_cdc._load_events_columns(entity, load.layout))] if entity.events else [])
            + [(ctx.ledger, spark_cdc._ledger_columns(entity, load.layout))] -%}
    {%- if entity.archive_input -%}{%- set tables = [(ctx.input, [])] + tables -%}{%- endif -%}
    {%- set masked = [ctx.public] if entity.sensitive else [] -%}
    {%- for table in masked -%}{%- do tables.append((table, spark_cdc._ledger_columns(entity, load.layout))) -%}{%- endfor -%}
    {%- set is_read_again = entity.events and spark_cdc._can_be_read_again(entity) and not load.events.rejected and spark_cdc._is_read_again_as_typed(entity) -%}
    {%- for table, columns in tables -%}
        {%- if not is_begun or not spark_cdc._is_there(table) -%}
            {%- do statements.append('create table if not exists ' ~ table) -%}
        {%- else -%}
            {%- set found = spark_cdc._found_names(table) -%}
            {%- if columns | map(attribute='at') | map('lower') | reject('in', found) | list -%}{%- do statements.append('alter table ' ~ table ~ ' add columns') -%}{%- endif -%}
            {%- if table == ctx.events and not entity.events.archive -%}
                {%- do outdated.extend(spark_cdc._partitions_by_load(table) | select('in', run.load.keep + run.load.replaced)) -%}
            {%- endif -%}
        {%- endif -%}
        {%- if table == ctx.ledger or (table not in masked and not is_read_again) -%}{%- do statements.append(spark_cdc._overwrite_sql(table, '…')) -%}{%- endif -%}
    {%- endfor -%}
    {%- if spark_cdc._deletes_separately(entity, load) -%}
        {%- do statements.append(spark_cdc._overwrite_sql(ctx.ledger, '…')) -%}
        {%- if not load.is_checkpoint -%}{%- do statements.append(spark_cdc._dropping(ctx.ledger, entity.file_format)) -%}{%- endif -%}
    {%- endif -%}
    {%- if retained.sql -%}{%- do statements.append(spark_cdc._overwrite_sql(ctx.ledger, '…')) -%}{%- endif -%}
    {%- if retained.drops_deletes -%}{%- do statements.append(spark_cdc._dropping(ctx.ledger, entity.file_format)) -%}{%- endif -%}
    {%- for table in masked -%}{%- do statements.append(spark_cdc._overwrite_sql(table, '…')) -%}{%- endfor -%}
    {%- do statements.append(spark_cdc._replacing(spark_cdc._beside(ctx, 'commit', run.manifest.sequence + 1), false)) -%}
    {%- do statements.append(spark_cdc._replacing(ctx.committed, run.manifest.existed)) -%}
    {%- do statements.append(spark_cdc._overwrite_sql(ctx.load_log, '…')) -%}
    {%- if outdated -%}{%- do statements.append(spark_cdc._dropping(ctx.events, entity.file_format)) -%}{%- endif -%}
    {{ return(statements) }}
{%- endmacro -%}


{#- The names of a table's columns, in lower case. -#}
{%- macro _found_names(table) -%}
    {{ return(adapter.get_columns_in_relation(table) | map(attribute='name') | map('lower') | list) }}
{%- endmacro -%}


{#- Makes a temporary view of this session, and returns its name. -#}
{%- macro _plan_view(name, sql) -%}
    {%- do spark_cdc._send('create or replace temporary view ' ~ name ~ ' as\n' ~ sql) -%}
    {{ return(name) }}
{%- endmacro -%}
