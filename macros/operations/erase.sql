{#- Erases keys of an entity (docs/sensitive.md#erasure): the sensitive values of their rows are
    gone from all loads, archived events and rejected rows, and no later load or replay brings them
    back. Loads that hold them are written anew beside the old ones, one commit shows them, and the
    old ones are dropped at once. The same command again finishes what was interrupted.
        dbt run-operation spark_cdc.erase --args '{entity: members, keys: [[4]]}'
    Arguments: entity (name), keys (list of keys, each a list with a value for each key column in
    declared order; not where the key is sensitive, since they stand in logs), source (in their
    place a table with the key columns, or a CSV file with a header that Spark can read),
    even_if_absent (whether keys that no load has are accepted: later loads bring no values of
    them), execute (whether it is done; else it is only said). Returns nothing. -#}
{%- macro erase(entity, keys=none, source=none, even_if_absent=false, execute=true) -%}
    {%- do spark_cdc._check_arguments('erase', {'entity': entity, 'source': source, 'even_if_absent': even_if_absent, 'execute': execute}) -%}
    {%- set ctx = spark_cdc._contexts('erase', [entity])[0] -%}
    {#- What is wrong with what is asked for: raised before anything is read. -#}
    {%- set entity = ctx.entity -%}
    {%- set names = entity.key_columns | map(attribute='name') | list -%}
    {%- set lengths = [] -%}
    {%- for key in keys or [] -%}{%- do lengths.append(key | length if key is sequence and key is not string else 1) -%}{%- endfor -%}
    {%- set unique_keys = (entity.events or {}).get('unique_keys') or [] -%}
    {%- set problems = spark_cdc._failed_rules({
        'names': names | join(', '), 'count': names | length, 'found': lengths | reject('equalto', names | length) | join(', '), 'name': entity.name,
    }, [
        (not entity.sensitive, 'it has no sensitive columns, and erase takes away nothing but their values (docs/sensitive.md)'),
        (not names, 'it has no key, by which rows could be told'),
        (env_var('SPARK_CDC_BRANCH', '') != '' or (entity.sensitive and ctx.write.public != ctx.public), 'this is a branch: erase in production, and make the branch anew'),
        (spark_cdc._secret_of(unique_keys | sum(start=[])) is not none,
         'its events name rows by a sensitive unique key (events.unique_keys) too, which the list of erased keys does not know'),
        ((not keys) == (not source), 'accepted are keys, or a table or file of them (source): spark-cdc erase %(name)s --key …, or --keys TABLE'),
        (keys and lengths | reject('equalto', names | length) | list,
         'a key has %(found)s values; the key has %(count)s: %(names)s'),
        (keys and spark_cdc._has_sensitive_key(entity),
         'its key is sensitive (%(names)s), and what a command names stands in logs: give the keys in a table or file that only you can read, with the '
         'columns %(names)s: spark-cdc erase %(name)s --keys TABLE'),
    ]) -%}
    {%- do spark_cdc._stop('erase', problems, 'Nothing was written.', entity) -%}
    {%- do spark_cdc._ensure_load_log(ctx.load_log) -%}
    {%- set timeline = spark_cdc._current_timeline(ctx) -%}
    {#- What of the entity's state does not go with it. -#}
    {%- set secret = spark_cdc._secret_of(entity.sensitive) -%}
    {%- set proof = none if spark_cdc._secret_is_missing(secret) else spark_cdc._secret_proof(secret) -%}
    {%- set id = spark_cdc._secret_id(secret) -%}
    {%- set problems = spark_cdc._failed_rules({'name': entity.name, 'last': timeline.loads | last | default('none'), 'schema': spark_cdc._sensitive_schema(), 'input': ctx.input}, [
        (spark_cdc._read_draft(ctx).existed,
         'there is a draft of a replay, whose loads hold what is to be erased: publish it, or discard it (dbt run-operation spark_cdc.discard_replay '
         "--args '{entities: [%(name)s]}')"),
        (timeline.definition and not spark_cdc._has_columns_of(entity, timeline.definition),
         'the columns of stg_%(name)s are not those of the last load, %(last)s: load once with the new columns first'),
        (spark_cdc._known(ctx.input) is not none,
         '%(input)s holds rows as they came, from before columns were sensitive (archive_input), which erase does not change: drop table %(input)s purge'),
        (proof is none, 'there is no secret in %(schema)s, with which its hashes are keyed: spark-cdc secrets init'),
        (proof is not none and proof != (timeline.get('secrets') or {}).get(id, proof),
         'the secret in %(schema)s is not the one that the loads so far were hashed with: spark-cdc secrets check'),
    ]) -%}
    {%- do spark_cdc._stop('erase', problems, 'Nothing was written.', entity) -%}
    {%- set layout = timeline.layout -%}
    {%- set wanted = spark_cdc._erase_wanted(ctx, layout, keys, source, even_if_absent) -%}
    {%- do spark_cdc._erase_entity(spark_cdc._erase_list_keys(ctx, wanted), timeline, wanted) -%}
{%- endmacro -%}


{#- Takes the sensitive values of the keys on an entity's list out of all that lies there: loads
    that hold them are written anew beside the old under other names, one commit shows them, then
    the old ones are dropped. What no manifest names is dropped alone. Arguments: ctx, timeline
    (manifest), wanted (of _erase_wanted()). -#}
{%- macro _erase_entity(ctx, timeline, wanted) -%}
    {%- set catalog = spark_cdc._catalog_of(ctx) -%}
    {%- set tables = [] -%}
    {%- for table in [ctx.public, ctx.ledger, ctx.events] if table.identifier in catalog -%}
        {#- what a killed insert left lies there, too -#}
        {%- do spark_cdc._find_partitions(table) -%}
        {%- do tables.append(table) -%}
    {%- endfor -%}
    {%- if ctx.ledger not in tables -%}
        {%- do spark_cdc._say(spark_cdc._erase_text(ctx, wanted, {}, {}, [])) -%}
        {{ return('') }}
    {%- endif -%}
    {%- set plan = spark_cdc._plan_erase(ctx, timeline, wanted, catalog, tables) -%}
    {%- for group in plan.groups -%}{%- do spark_cdc._write_erased(ctx, plan, group, wanted) -%}{%- endfor -%}
    {%- if plan.names and spark_cdc._mode() != 'plan' -%}{%- do spark_cdc._audit_erase(ctx, plan, wanted) -%}{%- endif -%}
    {%- for name, tag in spark_cdc._tags(ctx).items() if tag.loads | select('in', plan.names) | list -%}
        {%- set text = spark_cdc._with_new_names(tag.text, plan.names) -%}
        {%- set text = 'select\n    ' ~ text[text.index('/* spark_cdc manifest:'):] | trim -%}
        {%- do spark_cdc._send(spark_cdc._replace_view_sql(spark_cdc._beside(ctx, 'tag', name), text, true)) -%}
    {%- endfor -%}
    {%- if timeline.loads -%}
        {#- also where no load changes its name: a load that began before the list was there is
            refused by it -#}
        {%- set next = dict(spark_cdc._timeline_renamed(timeline, plan.names), erased=true) -%}
        {#- What was done, as a row of cdc_loads that tells no key. Replaced are also the new loads
            that do not count by themselves: undone, compacted, of a tag. -#}
        {%- set row = spark_cdc._operation_row(ctx, next, {
            'load_id': next.loads[-1].split('-')[0] ~ '-e-' ~ spark_cdc._run_id8(),
            'load_type': 'erase',
            'replaced': plan.names | list + plan.dropped + plan.names.values() | reject('in', next.loads) | list,
            'status': 'erased',
            'message': spark_cdc._query('select current_user() as name')[0].name ~ ' erased ' ~ spark_cdc._counted(wanted['keys'], 'key') ~ ': ' ~ spark_cdc._counted(plan.names | length, 'load') ~ ' written anew, '
                ~ spark_cdc._counted(plan.dropped | length, 'load') ~ ' that did not count dropped',
        }) -%}
        {%- do spark_cdc._transact(ctx, {
            'manifest': next, 'what': 'erase', 'copies': spark_cdc._erased_log_sql(ctx, plan) if plan.names else none,
            'rows': [row],
        }) -%}
    {%- endif -%}
    {%- set gone = plan.names | list + plan.dropped -%}
    {%- for sequence, kept in spark_cdc._retained_versions(ctx).items() if kept.loads | select('in', gone) | list -%}
        {%- do spark_cdc._drop_view(spark_cdc._beside(ctx, 'version', sequence)) -%}
    {%- endfor -%}
    {#- events last, or the ledger: what is dropped last tells the same command that there is
        something left to do -#}
    {%- for table in tables if gone -%}{%- do spark_cdc._drop_loads(table, gone, purge=true) -%}{%- endfor -%}
    {%- do spark_cdc._say(spark_cdc._erase_text(ctx, wanted, plan.names, plan.held, plan.dropped)) -%}
    {%- set left = spark_cdc._erase_holders(ctx, plan.sensitive, wanted, tables) if spark_cdc._mode() != 'plan' else {} -%}
    {%- if left -%}
        {%- do exceptions.raise_compiler_error(ctx.entity.name ~ ': while erase was on its way, a load was written that did not know the list yet (' ~ left | join(', ')
            ~ '). It is refused, or will be, but its files are there. Run the same command again when it has ended.') -%}
    {%- endif -%}
    {#- The tables that publish the entity's rows, as names of models: no change feed tells them
        what was erased. -#}
    {%- set names = [] -%}
    {%- for node in graph.nodes.values() | selectattr('resource_type', 'equalto', 'model') if node.config.materialized == 'cdc_published' -%}
        {%- for id in node.depends_on.nodes if id.split('.')[-1] == ctx.entity.name ~ '_changes' -%}{%- do names.append(node.name) -%}{%- endfor -%}
    {%- endfor -%}
    {%- set published = names | unique | sort -%}
    {%- do spark_cdc._print_data([{'entity': ctx.entity.name, 'erased': {
        'keys': wanted['keys'], 'rewritten': plan.names | length, 'dropped': plan.dropped | length, 'published': published,
    }}]) -%}
{%- endmacro -%}


{#- The loads that hold something of the keys on the list, or of rejected rows in which one of
    the keys wanted stands: a dictionary from the load to the number of its rows. Arguments:
    ctx, sensitive (names of the physical columns that hold or held sensitive values), wanted
    (of _erase_wanted()), tables (of the entity; the masked ledger is left out), loads (names; none
    for all that lie there). -#}
{%- macro _erase_holders(ctx, sensitive, wanted, tables, loads=none) -%}
    {%- set entity, holders = ctx.entity, {} -%}
    {%- for table in tables if table != ctx.public -%}
        {%- set is_ledger = table == ctx.ledger -%}
        {%- set found = adapter.get_columns_in_relation(table) | map(attribute='name') | list -%}
        {%- set left, old_left = [], [] -%}
        {%- for name in sensitive if name in found -%}{%- do left.append(spark_cdc._quote(name) ~ ' is not null') -%}{%- endfor -%}
        {%- for name in sensitive if 'cdc__old_' ~ name in found and not is_ledger -%}{%- do old_left.append(spark_cdc._quote('cdc__old_' ~ name) ~ ' is not null') -%}{%- endfor -%}
        {%- set rejected = "operation = 'R'" if is_ledger else 'cdc__note is not null' -%}
        {%- set where -%}
(cdc__erased_is_gone and ({{ (left + old_left) | join(' or ') }} or (({{ rejected }}) and {# -#}
coalesce(get_json_object(cdc__note, '$.reasons[0]'), '') <> '{{ spark_cdc._erased_text() }}')))
        {%- if old_left %} or (cdc__erased_is_old_gone and ({{ old_left | join(' or ') }})){% endif -%}
        {%- endset -%}
        {%- set rows -%}
select *
from {{ table }}
where {{ "operation <> 'L'" if is_ledger else 'true' }}{{ ' and ' ~ spark_cdc._in_loads(loads) if loads }}
        {%- endset -%}
        {%- set tokens = spark_cdc._erase_key_tokens(entity, wanted.layout, not is_ledger) -%}
        {%- set sql -%}
select
    load_id,
    count(*) as row_count
from (
    {{ spark_cdc._erased_rows_sql(entity, rows, [{'name': 'load_id', 'sql': 'load_id'}], rejected, tokens.of_key, tokens.of_old,
        spark_cdc._erase_wanted_in_text(rejected, wanted), where) | indent(4) }}
) as held
group by load_id
order by load_id
        {%- endset -%}
        {%- for row in spark_cdc._query(sql) -%}{%- do holders.update({row.load_id: holders.get(row.load_id, 0) + row.row_count | int}) -%}{%- endfor -%}
    {%- endfor -%}
    {{ return(holders) }}
{%- endmacro -%}


{#- What is to be done: held (of _erase_holders()), names (of loads that are written anew: from
    the old to the new one), dropped (loads that hold values and that no manifest names),
    compacted (those of names of which compact has left rejected rows and events alone), groups
    (of loads with one definition: then, the entity as it was, layout, loads), records (of loads,
    the new ones' under the old names), sensitive (physical columns that hold or held sensitive
    values), is_archived. -#}
{%- macro _plan_erase(ctx, timeline, wanted, catalog, tables) -%}
    {%- set entity = ctx.entity -%}
    {%- set records = spark_cdc._load_records(ctx.ledger, spark_cdc._partitions_by_load(ctx.write.ledger) | list) -%}
    {%- set sensitive = [] -%}
    {%- for column in entity.sensitive -%}{%- do sensitive.append(spark_cdc._place(wanted.layout, column).at) -%}{%- endfor -%}
    {%- for record in records.values() -%}
        {%- for name in fromjson((record.definition or {}).get('masks') or '{}') -%}{%- do sensitive.append(spark_cdc._place(record.get('layout') or {}, {'name': name}).at) -%}{%- endfor -%}
    {%- endfor -%}
    {%- set sensitive = sensitive | unique | list -%}
    {%- set held = spark_cdc._erase_holders(ctx, sensitive, wanted, tables) -%}
    {%- set versions = [] -%}
    {%- for identifier, found in catalog.items() if found.get('kept_at') -%}{%- do versions.append(identifier) -%}{%- endfor -%}
    {#- claims of commits before the last one count for nothing any more -#}
    {%- for sequence in spark_cdc._numbers_beside(ctx) if sequence < timeline.sequence -%}{%- do versions.append(spark_cdc._beside(ctx, 'commit', sequence).identifier) -%}{%- endfor -%}
    {%- set named = spark_cdc._named_loads(dict(ctx, expired=[], expired_versions=versions)) -%}
    {%- set is_archived = entity.events is not none and entity.events.archive -%}
    {%- set histories = {} -%}
    {%- for load_id in spark_cdc._loads_with(named.named, 'is_history') -%}
        {%- for compacted in records[load_id].compacted -%}{%- do histories.setdefault(compacted, []).append(load_id) -%}{%- endfor -%}
    {%- endfor -%}
    {%- set renamed, compacted, dropped = [], [], [] -%}
    {%- for load_id in held -%}
        {%- if load_id in named.named + named.compacted -%}
            {%- do compacted.append(load_id) if load_id not in named.named -%}
            {%- do renamed.extend([load_id] + histories.get(load_id, [])) -%}
        {%- else -%}
            {%- do dropped.append(load_id) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set names, groups = {}, {} -%}
    {%- for load_id in renamed | unique | sort -%}
        {%- do names.update({load_id: load_id.rsplit('-', 1)[0] ~ '-' ~ local_md5(spark_cdc._run_id8() ~ load_id)[:8]}) -%}
        {%- set record = records.get(load_id) or records[histories[load_id][0]] -%}
        {%- set layout = record.get('layout') or {} -%}
        {%- set group = groups.setdefault(tojson([record.definition, layout], sort_keys=true), {
            'then': spark_cdc._described_then(entity, record), 'layout': layout, 'loads': [],
        }) -%}
        {%- do group.loads.append(load_id) -%}
    {%- endfor -%}
    {#- What the new loads say of themselves, by the old names. The load behind one that keeps its
        name goes on to build on the old one, for which the new one stands. -#}
    {%- set chain = timeline.loads + spark_cdc._undone_loads(timeline) -%}
    {%- set rewritten = {} -%}
    {%- for old, new in names.items() if old not in compacted -%}
        {%- set record = fromjson(spark_cdc._with_new_names(tojson(records[old]), names)) -%}
        {%- set at = chain.index(old) if old in chain else none -%}
        {%- set before = chain[at - 1] if at else none -%}
        {%- set behind = chain[at + 1] if at is not none and at + 1 < chain | length else none -%}
        {%- set stands_for = records[behind].parent if behind and behind not in names else old -%}
        {%- set record = dict(record, load_id=new, replaced=[old], stands_for=stands_for) -%}
        {%- do rewritten.update({old: dict(record, parent=names[before]) if before in names else record}) -%}
    {%- endfor -%}
    {{ return({
        'held': held, 'names': names, 'dropped': dropped, 'compacted': compacted, 'groups': groups.values() | list, 'sensitive': sensitive,
        'records': rewritten, 'is_archived': is_archived, 'tables': tables, 'entity_now': entity,
    }) }}
{%- endmacro -%}


{#- Writes loads of one definition anew: both ledgers, and the archive. -#}
{%- macro _write_erased(ctx, plan, group, wanted) -%}
    {%- set then, layout = group.then, group.layout -%}
    {%- set now = dict(ctx, entity=then) -%}
    {%- set load = {'layout': layout, 'replaced': group.loads} -%}
    {%- set columns = spark_cdc._ensure_table(now, 'ledger', load) -%}
    {%- set records = [] -%}
    {%- for load_id in group.loads if load_id in plan.records -%}{%- do records.append(plan.records[load_id]) -%}{%- endfor -%}
    {%- set new = [] -%}
    {%- for load_id in group.loads -%}{%- do new.append(plan.names[load_id]) -%}{%- endfor -%}
    {%- set compacted = group.loads | select('in', plan.compacted) | list -%}
    {%- set condition = spark_cdc._in_loads(group.loads) ~ " and operation <> 'L'"
        ~ (" and (operation = 'R' or not " ~ spark_cdc._in_loads(compacted) ~ ')' if compacted else '') -%}
    {%- set rows = spark_cdc._erased_copy_sql(now, ctx.ledger, spark_cdc._ledger_columns(then, layout), "operation = 'R'", condition, plan, wanted) -%}
    {%- do spark_cdc._write_anew(ctx, 'ledger', new, columns, records, rows) -%}
    {%- do spark_cdc._write_masked_ledger(now, new, load) -%}
    {%- if plan.is_archived -%}
        {%- set event_columns = spark_cdc._load_events_columns(then, layout) -%}
        {%- set settled = spark_cdc._ensure_table(now, 'events', load) -%}
        {%- set rows = spark_cdc._erased_copy_sql(now, ctx.events, event_columns, 'cdc__note is not null', spark_cdc._in_loads(group.loads), plan, wanted) -%}
        {%- do spark_cdc._set_session(ctx.write.events) -%}
        {%- do spark_cdc._send(spark_cdc._write_rows_sql(ctx.write.events, settled, rows, spark_cdc._in_loads(new), 'events_of_loads')) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Rows of some loads under the names of the new ones, without what is erased. Arguments:
    ctx (with the entity as it was), table, columns (with the places where they lie),
    rejected (condition), condition (which rows). -#}
{%- macro _erased_copy_sql(ctx, table, columns, rejected, condition, plan, wanted) -%}
{%- set tokens = spark_cdc._erase_key_tokens(plan.entity_now, wanted.layout, table == ctx.events) -%}
{%- set given, old_given = [], [] -%}
{%- for token in tokens.of_key -%}{%- do given.append({'secret': token.secret, 'sql': 'cdc__erased_given_' ~ loop.index}) -%}{%- endfor -%}
{%- for token in tokens.of_old -%}{%- do old_given.append({'secret': token.secret, 'sql': 'cdc__erased_old_given_' ~ loop.index}) -%}{%- endfor -%}
{%- set rows -%}
select
    {%- for column in columns %}
    {{ spark_cdc._aliased(column.at_sql, column.sql) }},
    {%- endfor %}
    {%- for token in tokens.of_key %}
    {{ token.sql | indent(4) }} as {{ given[loop.index0].sql }}{{ ',' if not loop.last or tokens.of_old }}
    {%- endfor %}
    {%- for token in tokens.of_old %}
    {{ token.sql | indent(4) }} as {{ old_given[loop.index0].sql }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ table }}
where {{ condition }}
{%- endset -%}
select /*+ rebalance({{ spark_cdc._partition_names(table) | join(', ') }}) */
    {% for column in columns -%}
    {%- if column.name == 'load_id' -%}
    case load_id{% for old, new in plan.names.items() %} when '{{ old }}' then '{{ new }}'{% endfor %} end as load_id
    {%- else -%}
    {{ column.sql }}
    {%- endif -%}
    {{ ',\n    ' if not loop.last }}
    {%- endfor %}
from (
    {{ spark_cdc._erased_rows_sql(ctx.entity, rows, columns, rejected, given, old_given, spark_cdc._erase_wanted_in_text(rejected, wanted)) | indent(4) }}
) as erased
{%- endmacro -%}


{#- What was written is what was there, without the values: counted before anybody sees it. -#}
{%- macro _audit_erase(ctx, plan, wanted) -%}
    {%- set new = plan.names.values() | list -%}
    {%- set counted = spark_cdc._load_counts(ctx.ledger, plan.names | list + new, [], [spark_cdc._masked_ledger_differences_sql(ctx, new)]) -%}
    {%- set events = {} -%}
    {%- if plan.is_archived -%}
        {%- for row in spark_cdc._query('select load_id, count(*) as row_count from ' ~ ctx.events ~ ' where ' ~ spark_cdc._in_loads(plan.names | list + new)
                ~ ' group by load_id') -%}
            {%- do events.update({row.load_id: row.row_count | int}) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- set problems, rows = [], {} -%}
    {%- for old, name in plan.names.items() -%}
        {%- set of_old = counted.rows.get(old, {}) -%}
        {%- do rows.update({name: dict(of_old.items() | selectattr(0, 'equalto', 'R')) if old in plan.compacted else of_old}) -%}
        {%- if events.get(name, 0) != events.get(old, 0) -%}
            {%- do problems.append(name ~ ' has ' ~ events.get(name, 0) ~ ' events instead of ' ~ events.get(old, 0) ~ ' (' ~ old ~ ')') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for load_id in spark_cdc._erase_holders(ctx, plan.sensitive, wanted, plan.tables, new) -%}
        {%- do problems.append(load_id ~ ' holds values of what is to be erased') -%}
    {%- endfor -%}
    {%- do spark_cdc._audit_anew(ctx, counted, rows, problems, known=', but the keys are on the list: later loads bring no values of them',
        then=', then the same command again') -%}
{%- endmacro -%}


{#- Copies the rows of cdc_loads of loads that are written anew: the figures are the old ones. -#}
{%- macro _erased_log_sql(ctx, plan) -%}
{%- set renamed = {'load_id': {}, 'parent_load_id': {}} -%}
{%- for old, new in plan.names.items() -%}
    {%- do renamed.load_id.update({old: new}) -%}
    {%- do renamed.parent_load_id.update({old: (plan.records.get(old) or {}).get('parent') or ''}) -%}
{%- endfor -%}
{%- set sql -%}
select
    {%- for name in spark_cdc._load_log_columns() %}
    {% if name in renamed -%}
    nullif(case load_id{% for old, new in renamed[name].items() %} when '{{ old }}' then '{{ new }}'{% endfor %} end, '') as {{ name }}
    {%- else -%}
    {{ 'load_id as ' if name == 'replaced_load_ids' }}{{ name }}
    {%- endif -%}
    {{ ',' if not loop.last }}
    {%- endfor %}
from {{ ctx.write.load_log }}
where entity = '{{ ctx.entity.name }}' and {{ spark_cdc._in_loads(plan.records | list or ['']) }}
{%- endset -%}
{%- set where = "entity = '" ~ ctx.entity.name ~ "' and " ~ spark_cdc._in_loads(plan.names.values() | list) -%}
{{ spark_cdc._overwrite_by_name_sql(ctx.write.load_log, where, sql) }}
{%- endmacro -%}


{#- What was done, in words. A dry run reads no partitions that the metastore does not know, such as
    those of an insert that was killed. -#}
{%- macro _erase_text(ctx, wanted, names, held, dropped) -%}
{%- set is_plan = spark_cdc._mode() == 'plan' -%}
{{ ctx.entity.name }}: {{ 'would erase' if is_plan else 'erased' }} {{ spark_cdc._counted(wanted['keys'], 'key') }}
{%- if wanted.listed %} ({{ wanted.listed }} of them on the list before){% endif %}: {{ held.values() | sum }} rows {{ 'have' if is_plan else 'had' }} values of them; {# -#}
{{ spark_cdc._counted(names | length, 'load') }} {{ 'would be ' if is_plan }}written anew{{ ' (' ~ names | join(', ') ~ ')' if is_plan and names }}
{{- ', ' ~ spark_cdc._counted(dropped | length, 'load') ~ ' that ' ~ ('do' if is_plan else 'did') ~ ' not count dropped' if dropped }}
{{- ' (' ~ dropped | join(', ') ~ ')' if is_plan and dropped }}; later loads {{ 'would ' if is_plan }}bring none
{{- '. Not known: what an interrupted insert has left in partitions that the metastore does not know' if is_plan }}
{%- endmacro -%}


{#- The key columns with the SQL of their values in the ledger, or in <entity>_events, whichever
    load wrote the row; prefix as of _place_sql(). -#}
{%- macro _erase_keys(entity, layout, events=false, prefix='') -%}
    {%- set keys = [] -%}
    {%- for key in entity.key_columns -%}
        {%- do keys.append(dict(key, of=key, sql=spark_cdc._place_sql(spark_cdc._place(layout, key), events, prefix))) -%}
    {%- endfor -%}
    {{ return(keys) }}
{%- endmacro -%}


{#- Puts the keys on the list, before anything is rewritten: from then on no load that begins
    brings values of them. Those that are there already keep their tokens. Returns the context; in
    a dry run its entity's list is a temporary view with the keys on it. -#}
{%- macro _erase_list_keys(ctx, wanted) -%}
    {%- set entity, list = ctx.entity, spark_cdc._erased_list(ctx.entity) -%}
    {%- set is_keyed = spark_cdc._has_sensitive_key(entity) -%}
    {%- set id = spark_cdc._secret_id(spark_cdc._secret_of(entity.sensitive)) if is_keyed else 'none' -%}
    {%- set now = {'secret': id, 'sql': spark_cdc._erased_token(entity, entity.key_columns, id) if is_keyed else 'key_hash'} -%}
    {%- if spark_cdc._mode() == 'plan' -%}
        {%- set sql -%}
create or replace temporary view {{ wanted.view }}_list as
select
    key_token,
    any_value(key_hash) as key_hash,
    secret
from (
    select
        {{ now.sql | indent(8) }} as key_token,
        key_hash,
        '{{ id }}' as secret
    from {{ wanted.view }}
    {%- if spark_cdc._is_there(list) %}

    union all

    select
        key_token,
        key_hash,
        secret
    from {{ list }}
    {%- endif %}
) as listed
group by key_token, secret
        {%- endset -%}
        {%- do spark_cdc._send(sql) -%}
        {{ return(dict(ctx, entity=dict(entity, erased_list=wanted.view ~ '_list'))) }}
    {%- endif -%}
    {%- set columns = [] -%}
    {%- for name, data_type in [('key_token', 'binary'), ('key_hash', 'binary'), ('erased_at', 'timestamp'), ('secret', 'string'), ('run', 'string')] -%}
        {%- do columns.append({'at_sql': name, 'data_type': data_type}) -%}
    {%- endfor -%}
    {%- do spark_cdc._send(spark_cdc._create_table_sql(list, columns, 'orc', ['secret', 'run'])) -%}
    {%- if wanted.listed == wanted['keys'] -%}{{ return(ctx) }}{%- endif -%}
    {%- set tokens = spark_cdc._erased_tokens(entity, list, entity.key_columns) -%}
    {%- set sql -%}
{{ spark_cdc._overwrite_sql(list, none, ['secret', 'run']) }}
select
    wanted.token as key_token,
    {{ "unhex(replace(java_method('java.util.UUID', 'randomUUID'), '-', ''))" if is_keyed else 'wanted.token' }} as key_hash,
    current_timestamp() as erased_at,
    '{{ id }}' as secret,
    '{{ spark_cdc._run_id8() }}' as run
from (
    select
        {{ now.sql | indent(8) }} as token
        {%- for token in tokens %},
        {{ token.sql | indent(8) }} as token_{{ loop.index }}
        {%- endfor %}
    from {{ wanted.view }}
) as wanted
{%- for token in tokens %}
left anti join {{ list }} as list_{{ loop.index }}
    on wanted.token_{{ loop.index }} = list_{{ loop.index }}.key_token and list_{{ loop.index }}.secret = '{{ token.secret }}'
{%- endfor %}
    {%- endset -%}
    {%- do spark_cdc._set_overwrite(list) -%}
    {%- do spark_cdc._send(sql) -%}
    {%- do spark_cdc._refresh(list) -%}
    {{ return(ctx) }}
{%- endmacro -%}


{#- The tokens of rows of the ledger, or of <entity>_events, over their physical columns. Returns
    a dictionary: of_key, of_old (the key before an event). -#}
{%- macro _erase_key_tokens(entity, layout, events=false) -%}
    {%- set list = spark_cdc._erased_list(entity) -%}
    {%- set keys = spark_cdc._erase_keys(entity, layout, events) -%}
    {%- set key_hash = spark_cdc._hash_unless(spark_cdc._any_null(keys), keys) if layout.get('rekeyed') else 'key_hash' -%}
    {{ return({
        'of_key': spark_cdc._erased_tokens(entity, list, keys, key_hash),
        'of_old': spark_cdc._erased_old_tokens(entity, list, spark_cdc._erase_keys(entity, layout, events, 'cdc__old_')) if events else [],
    }) }}
{%- endmacro -%}


{#- The keys that are to be erased, as a temporary view spark_cdc_erase_<entity>: the key
    columns, key_hash, cdc__erased_text (a pattern that finds the key in a rejected row of which
    the key could not be read). They are checked; nothing is written. Arguments: ctx, layout (of
    the manifest), keys, source, even_if_absent (of erase()).
    Returns a dictionary: view, keys (number), listed (how many are on the list already),
    layout. -#}
{%- macro _erase_wanted(ctx, layout, keys, source, even_if_absent) -%}
    {%- set entity = ctx.entity -%}
    {%- set view = 'spark_cdc_erase_' ~ entity.name -%}
    {%- do spark_cdc._send('create or replace temporary view ' ~ view ~ '_given as\n' ~ (spark_cdc._erase_values_sql(entity, keys) if keys
        else spark_cdc._erase_source_sql(entity, source, view))) -%}
    {%- set typed = [] -%}
    {%- for column in entity.key_columns -%}{%- do typed.append('try_cast(' ~ column.sql ~ ' as ' ~ column.data_type ~ ') as ' ~ column.sql) -%}{%- endfor -%}
    {%- set patterns = [] -%}
    {%- for column in entity.key_columns -%}
        {%- do patterns.append("'(?=.*(?<![0-9A-Za-z])\\\\Q', replace(replace(cast(" ~ column.sql ~ " as string), '\\\\', '\\\\\\\\'), '\"', '\\\\\"'), '\\\\E(?![0-9A-Za-z]))'") -%}
    {%- endfor -%}
    {%- set sql -%}
create or replace temporary view {{ view }} as
select
    *,
    {{ spark_cdc._hash(entity.key_columns) | indent(4) }} as key_hash,
    concat('(?s)^', {{ patterns | join(', ') }}) as cdc__erased_text
from (
    select distinct
        {{ typed | join(',\n        ') }}
    from {{ view }}_given
) as keys
    {%- endset -%}
    {%- do spark_cdc._send(sql) -%}
    {%- set wrong = spark_cdc._query('select count(*) as found from ' ~ view ~ ' where ' ~ spark_cdc._any_null(entity.key_columns))[0].found | int -%}
    {%- set found = spark_cdc._query(spark_cdc._erase_known_sql(ctx, layout, view))[0] if not wrong else {'keys': 0, 'listed': 0, 'absent': 0} -%}
    {%- set types = [] -%}
    {%- for column in entity.key_columns -%}{%- do types.append(column.name ~ ' ' ~ column.data_type) -%}{%- endfor -%}
    {%- set problems = spark_cdc._failed_rules({'types': types | join(', '), 'wrong': wrong, 'absent': found.absent, 'keys': found['keys'], 'source': source}, [
        (wrong > 0, 'of the keys %(wrong)s are none: a value is missing or not of its type; the key is %(types)s'),
        (not wrong and found['keys'] | int == 0, 'there are no keys in %(source)s'),
        (found.absent | int > 0 and not even_if_absent,
         '%(absent)s of %(keys)s keys are in no load. If no later load is to bring values of them either, say so: --even-if-absent'),
    ]) -%}
    {%- do spark_cdc._stop('erase', problems, 'Nothing was written.', entity) -%}
    {{ return({'view': view, 'keys': found['keys'] | int, 'listed': found.listed | int, 'layout': layout}) }}
{%- endmacro -%}


{%- macro _erase_values_sql(entity, keys) -%}
    {%- set rows = [] -%}
    {%- for key in keys -%}
        {%- set values = [] -%}
        {%- for value in (key if key is sequence and key is not string else [key]) -%}{%- do values.append(spark_cdc._literal(value | string)) -%}{%- endfor -%}
        {%- do rows.append('(' ~ values | join(', ') ~ ')') -%}
    {%- endfor -%}
select *
from values
    {{ rows | join(',\n    ') }}
    as given ({{ entity.key_columns | map(attribute='sql') | join(', ') }})
{%- endmacro -%}


{#- The key columns of a table, or of a CSV file with a header, as text. -#}
{%- macro _erase_source_sql(entity, source, view) -%}
    {%- set source = source | string | trim -%}
    {%- set is_table = source.split('.') | length <= 3 and '' not in source.split('.') and source.replace('.', '_').replace('_', '0').isalnum() and not source.endswith('.csv') -%}
    {%- if is_table -%}
        {%- set names = [] -%}
        {%- for part in source.split('.') -%}{%- do names.append(spark_cdc._quote(part)) -%}{%- endfor -%}
        {%- set relation = names | join('.') -%}
    {%- else -%}
        {%- set relation = view ~ '_file' -%}
        {%- do spark_cdc._send(spark_cdc._reader_view_sql('temporary view ' ~ relation, 'csv', [
            'path ' ~ spark_cdc._literal(source), "header 'true'", "mode 'FAILFAST'", "ignoreLeadingWhiteSpace 'true'", "ignoreTrailingWhiteSpace 'true'"])) -%}
    {%- endif -%}
    {%- set found = [] -%}
    {%- for row in spark_cdc._describe(relation) -%}{%- do found.append(row.col_name | lower) -%}{%- endfor -%}
    {%- set missing = entity.key_columns | map(attribute='name') | map('lower') | reject('in', found) | list -%}
    {%- if missing -%}
        {%- set message -%}
spark_cdc.erase: {{ entity.name }}: {{ source }} lacks {{ missing | join(', ') }}; it has {{ found | reject('in', ['', '# partition information', '# col_name']) | unique | join(', ') }}. Accepted is a table, {# -#}
or a CSV file with a header, with the key columns {{ entity.key_columns | map(attribute='name') | join(', ') }}. Nothing was written.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
select
    {%- for column in entity.key_columns %}
    cast({{ column.sql }} as string) as {{ column.sql }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ relation }}
{%- endmacro -%}


{#- How many keys there are, how many of them are on the list, and how many neither there nor in
    any load. -#}
{%- macro _erase_known_sql(ctx, layout, view) -%}
{%- set entity, list = ctx.entity, spark_cdc._erased_list(ctx.entity) -%}
{%- set tokens = spark_cdc._erased_tokens(entity, list, entity.key_columns) if spark_cdc._is_there(list) else [] -%}
{%- set is_loaded = spark_cdc._is_there(ctx.ledger) -%}
select
    count(*) as keys,
    count_if(is_listed) as listed,
    count_if(not is_listed and not is_loaded) as absent
from (
    select
        wanted.key_hash,
        {% for token in tokens %}list_{{ loop.index }}.key_token is not null{{ ' or ' if not loop.last }}{% else %}false{% endfor %} as is_listed,
        {{ 'loaded.key_hash is not null' if is_loaded else 'false' }} as is_loaded
    from (
        select
            key_hash
            {%- for token in tokens %},
            {{ token.sql | indent(12) }} as token_{{ loop.index }}
            {%- endfor %}
        from {{ view }}
    ) as wanted
    {%- for token in tokens %}
    left join (select key_token from {{ list }} where secret = '{{ token.secret }}') as list_{{ loop.index }}
        on wanted.token_{{ loop.index }} = list_{{ loop.index }}.key_token
    {%- endfor %}
    {%- if is_loaded %}
    left join (
        {#- as the last definition has it: of a key that is sensitive or has changed since, from its
            values #}
        {%- set is_stored, keys = not (layout.get('rekeyed') or spark_cdc._has_sensitive_key(entity)), spark_cdc._erase_keys(entity, layout) %}
        select distinct {{ 'key_hash' if is_stored else spark_cdc._hash_unless(spark_cdc._any_null(keys), keys) | indent(8) }} as key_hash
        from {{ ctx.ledger }}
        where operation <> 'L'
    ) as loaded
        on wanted.key_hash = loaded.key_hash
    {%- endif %}
) as known
{%- endmacro -%}


{#- Whether one of the keys wanted stands in a rejected row of which the key could not be read,
    as a condition. -#}
{%- macro _erase_wanted_in_text(rejected, wanted) -%}
    {{ return('(' ~ rejected ~ ') and key_hash is null and cdc__note rlike (select array_join(collect_list(cdc__erased_text), \'|\') from ' ~ wanted.view ~ ')') }}
{%- endmacro -%}
