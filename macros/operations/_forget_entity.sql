{#- Takes the sensitive values of the keys on an entity's list out of all that lies there: loads that hold them are written anew beside the old under other names, one
    commit shows them, then the old ones are dropped. What no manifest names is dropped alone. Arguments: capture, head (manifest), wanted (of _forget_wanted()). -#}
{%- macro _forget_entity(capture, head, wanted) -%}
    {%- set catalog = spark_cdc._catalog_of(capture) -%}
    {%- set tables = [] -%}
    {%- for table in [capture.masked, capture.ledger, capture.events] if table.identifier in catalog -%}
        {%- do spark_cdc._send('alter table ' ~ table ~ ' recover partitions') -%}  {#- what a killed insert left lies there, too -#}
        {%- do tables.append(table) -%}
    {%- endfor -%}
    {%- if capture.ledger not in tables -%}
        {%- do log(spark_cdc._forget_text(capture, wanted, {}, {}, []), info=true) -%}
        {{ return('') }}
    {%- endif -%}
    {%- do spark_cdc._record_missing_loads(capture, head) -%}
    {%- set plan = spark_cdc._plan_forget(capture, head, wanted, catalog, tables) -%}
    {%- for group in plan.groups -%}{%- do spark_cdc._write_forgotten(capture, plan, group, wanted) -%}{%- endfor -%}
    {%- if plan.names -%}{%- do spark_cdc._audit_forget(capture, plan, wanted) -%}{%- endif -%}
    {%- for name, tag in spark_cdc._tags(capture).items() if tag.loads | select('in', plan.names) | list -%}
        {%- set text = spark_cdc._forget_renamed(tag.text, plan.names) -%}
        {%- do spark_cdc._send('alter view ' ~ spark_cdc._tag(capture, name) ~ ' as\nselect\n    ' ~ text[text.index('/* spark_cdc manifest:'):] | trim) -%}
    {%- endfor -%}
    {%- set older = [] -%}
    {%- if head.loads -%}
        {#- also where no load changes its name: a load that began before the list was there is refused by it -#}
        {%- set next = dict(fromjson(spark_cdc._forget_renamed(tojson(head), plan.names)), forgotten=true) -%}
        {%- do older.extend(spark_cdc._publish(capture, next, 'forget')) -%}
        {%- do spark_cdc._record_forget(capture, next, plan, wanted) -%}
    {%- endif -%}
    {%- set gone = plan.names | list + plan.dropped -%}
    {%- for sequence, kept in spark_cdc._kept_versions(capture).items() if kept.loads | select('in', gone) | list -%}
        {%- do spark_cdc._send('drop view if exists ' ~ spark_cdc._kept_version(capture, sequence)) -%}
    {%- endfor -%}
    {#- events last, or the ledger: what is dropped last tells the same command that there is something left to do -#}
    {%- for table in tables if gone -%}{%- do spark_cdc._drop_loads(table, gone, purge=true) -%}{%- endfor -%}
    {%- do spark_cdc._drop_claims(capture, older) -%}
    {%- do log(spark_cdc._forget_text(capture, wanted, plan.names, plan.held, plan.dropped), info=true) -%}
    {%- set left = spark_cdc._forget_holders(capture, plan.sensitive, wanted, tables) -%}
    {%- if left -%}
        {%- do exceptions.raise_compiler_error(capture.entity.name ~ ': while forget was on its way, a load was written that did not know the list yet (' ~ left | join(', ')
            ~ '). It is refused, or will be, but its files are there. Run the same command again when it has ended.') -%}
    {%- endif -%}
    {%- do print('spark_cdc forgot: ' ~ tojson({
        'entity': capture.entity.name, 'keys': wanted['keys'], 'rewritten': plan.names | length, 'dropped': plan.dropped | length,
        'published': spark_cdc._forget_published(capture),
    })) -%}
{%- endmacro -%}


{#- The loads with values of the keys on the list, of both tables: a dictionary as of _forgotten_holders(). -#}
{%- macro _forget_holders(capture, sensitive, wanted, tables, loads=none) -%}
    {%- set held = {} -%}
    {%- for table in tables if table != capture.masked -%}
        {%- for load_id, count in spark_cdc._forgotten_holders(capture, table, sensitive, wanted, loads).items() -%}
            {%- do held.update({load_id: held.get(load_id, 0) + count}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(held) }}
{%- endmacro -%}


{#- What is to be done: held (of _forget_holders()), names (of loads that are written anew: from the old to the new one), dropped (loads that hold values and that no
    manifest names), squashed (those of names of which compact has left rejected rows and events alone), groups (of loads with one definition: then, the entity as it was,
    layout, loads), records (of loads, the new ones' under the old names), sensitive (physical columns that hold or held sensitive values), is_archived. -#}
{%- macro _plan_forget(capture, head, wanted, catalog, tables) -%}
    {%- set entity = capture.entity -%}
    {%- set records = spark_cdc._load_records(capture.ledger, spark_cdc._partitions_by_load(capture.ledger) | list) -%}
    {%- set sensitive = [] -%}
    {%- for column in entity.sensitive -%}{%- do sensitive.append(spark_cdc._place(wanted.layout, column).at) -%}{%- endfor -%}
    {%- for record in records.values() -%}
        {%- for name in fromjson((record.definition or {}).get('masks') or '{}') -%}{%- do sensitive.append(spark_cdc._place(record.get('layout') or {}, {'name': name}).at) -%}{%- endfor -%}
    {%- endfor -%}
    {%- set sensitive = sensitive | unique | list -%}
    {%- set held = spark_cdc._forget_holders(capture, sensitive, wanted, tables) -%}
    {%- set versions = [] -%}
    {%- for identifier, found in catalog.items() if found.get('kept_at') -%}{%- do versions.append(identifier) -%}{%- endfor -%}
    {#- claims of commits before the last one count for nothing any more -#}
    {%- for sequence in spark_cdc._claims(capture) if sequence < head.sequence -%}{%- do versions.append(spark_cdc._claim(capture, sequence).identifier) -%}{%- endfor -%}
    {%- set named = spark_cdc._named_loads(dict(capture, forgotten=[], forgotten_versions=versions)) -%}
    {%- set is_archived = entity.events is not none and entity.events.archive -%}
    {%- set histories = {} -%}
    {%- for load_id in spark_cdc._loads_with(named.named, 'is_history') -%}
        {%- for squashed in records[load_id].squashed -%}{%- do histories.setdefault(squashed, []).append(load_id) -%}{%- endfor -%}
    {%- endfor -%}
    {%- set renamed, squashed, dropped = [], [], [] -%}
    {%- for load_id in held -%}
        {%- if load_id in named.named + named.squashed -%}
            {%- do squashed.append(load_id) if load_id not in named.named -%}
            {%- do renamed.extend([load_id] + histories.get(load_id, [])) -%}
        {%- else -%}
            {%- do dropped.append(load_id) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set names, groups = {}, {} -%}
    {%- for load_id in renamed | unique | sort -%}
        {%- do names.update({load_id: load_id.rsplit('-', 1)[0] ~ '-' ~ local_md5(spark_cdc._attempt() ~ load_id)[:8]}) -%}
        {%- set record = records.get(load_id) or records[histories[load_id][0]] -%}
        {%- set layout = record.get('layout') or {} -%}
        {%- set group = groups.setdefault(tojson([record.definition, layout], sort_keys=true), {
            'then': spark_cdc._described_then(entity, record), 'layout': layout, 'loads': [],
        }) -%}
        {%- do group.loads.append(load_id) -%}
    {%- endfor -%}
    {{ return({
        'held': held, 'names': names, 'dropped': dropped, 'squashed': squashed, 'groups': groups.values() | list, 'sensitive': sensitive,
        'records': spark_cdc._forget_records(head, records, names, squashed), 'is_archived': is_archived, 'tables': tables, 'entity_now': entity,
    }) }}
{%- endmacro -%}


{#- Text with the new names of loads in the place of the old ones. -#}
{%- macro _forget_renamed(text, names) -%}
    {%- set at = namespace(text=text) -%}
    {%- for old, new in names.items() -%}{%- set at.text = at.text.replace(old, new) -%}{%- endfor -%}
    {{ return(at.text) }}
{%- endmacro -%}


{#- What the new loads say of themselves, by the old names. The load behind one that keeps its name goes on to build on the old one, for which the new one stands. -#}
{%- macro _forget_records(head, records, names, squashed) -%}
    {%- set chain = head.loads + (head.get('undone') or []) | map(attribute='loads') | sum(start=[]) -%}
    {%- set found = {} -%}
    {%- for old, new in names.items() if old not in squashed -%}
        {%- set record = fromjson(spark_cdc._forget_renamed(tojson(records[old]), names)) -%}
        {%- set at = chain.index(old) if old in chain else none -%}
        {%- set before = chain[at - 1] if at else none -%}
        {%- set behind = chain[at + 1] if at is not none and at + 1 < chain | length else none -%}
        {%- set stands_for = records[behind].parent if behind and behind not in names else old -%}
        {%- set record = dict(record, load_id=new, replaced=[old], stands_for=stands_for) -%}
        {%- do found.update({old: dict(record, parent=names[before]) if before in names else record}) -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- Writes loads of one definition anew: both ledgers, and the archive. -#}
{%- macro _write_forgotten(capture, plan, group, wanted) -%}
    {%- set then, layout = group.then, group.layout -%}
    {%- set now = dict(capture, entity=then) -%}
    {%- set partitions = ['business_date', 'load_id', 'operation'] -%}
    {%- set columns = spark_cdc._settled_table(then, capture.ledger, spark_cdc._ledger_columns(then, layout), partitions, ['key_hash', 'nonkey_hash']) -%}
    {%- set records = [] -%}
    {%- for load_id in group.loads if load_id in plan.records -%}{%- do records.append(plan.records[load_id]) -%}{%- endfor -%}
    {%- set new = [] -%}
    {%- for load_id in group.loads -%}{%- do new.append(plan.names[load_id]) -%}{%- endfor -%}
    {%- set squashed = group.loads | select('in', plan.squashed) | list -%}
    {%- set condition = spark_cdc._in_loads(group.loads) ~ " and operation <> 'L'"
        ~ (" and (operation = 'R' or not " ~ spark_cdc._in_loads(squashed) ~ ')' if squashed else '') -%}
    {%- set rows = spark_cdc._forgotten_copy_sql(now, capture.ledger, spark_cdc._ledger_columns(then, layout), "operation = 'R'", condition, plan, wanted) -%}
    {%- do spark_cdc._set_session(capture.ledger) -%}
    {%- do spark_cdc._send(spark_cdc._write_loads_sql(capture.ledger, columns, records, rows)) -%}
    {%- do spark_cdc._write_masked_ledger(now, new, layout) -%}
    {%- if plan.is_archived -%}
        {%- set event_columns = spark_cdc._load_events_columns(then, layout) -%}
        {%- set settled = spark_cdc._settled_table(then, capture.events, event_columns, partitions[:2], ['key_hash', 'event_hash']) -%}
        {%- set rows = spark_cdc._forgotten_copy_sql(now, capture.events, event_columns, 'note is not null', spark_cdc._in_loads(group.loads), plan, wanted) -%}
        {%- do spark_cdc._set_session(capture.events) -%}
        {%- do spark_cdc._send(spark_cdc._write_rows_sql(capture.events, settled, partitions[:2], rows, 'events_of_loads')) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Rows of some loads under the names of the new ones, without what is forgotten. Arguments: capture (with the entity as it was), table, columns (with the places where they
    lie), rejected (condition), condition (which rows). -#}
{%- macro _forgotten_copy_sql(capture, table, columns, rejected, condition, plan, wanted) -%}
{%- set tokens = spark_cdc._forget_key_tokens(plan.entity_now, wanted.layout, table == capture.events) -%}
{%- set given, old_given = [], [] -%}
{%- for token in tokens.of_key -%}{%- do given.append({'secret': token.secret, 'sql': 'forgotten__given_' ~ loop.index}) -%}{%- endfor -%}
{%- for token in tokens.of_old -%}{%- do old_given.append({'secret': token.secret, 'sql': 'forgotten__old_given_' ~ loop.index}) -%}{%- endfor -%}
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
    {{ spark_cdc._forgotten_rows_sql(capture.entity, rows, columns, rejected, given, old_given, spark_cdc._forget_wanted_in_text(rejected, wanted)) | indent(4) }}
) as forgotten
{%- endmacro -%}


{#- What was written is what was there, without the values: counted before anybody sees it. -#}
{%- macro _audit_forget(capture, plan, wanted) -%}
    {%- set new = plan.names.values() | list -%}
    {%- set counted = spark_cdc._load_counts(capture.ledger, plan.names | list + new, [], [spark_cdc._masked_ledger_differences_sql(capture, new)]) -%}
    {%- set events = {} -%}
    {%- if plan.is_archived -%}
        {%- for row in spark_cdc._query('select load_id, count(*) as row_count from ' ~ capture.events ~ ' where ' ~ spark_cdc._in_loads(plan.names | list + new)
                ~ ' group by load_id') -%}
            {%- do events.update({row.load_id: row.row_count | int}) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- set problems = [] -%}
    {%- for old, name in plan.names.items() -%}
        {%- set wanted_rows = counted.rows.get(old, {}) -%}
        {%- set wanted_rows = dict(wanted_rows.items() | selectattr(0, 'equalto', 'R')) if old in plan.squashed else wanted_rows -%}
        {%- if counted.rows.get(name, {}) != wanted_rows or events.get(name, 0) != events.get(old, 0) -%}
            {%- do problems.append(name ~ ' has ' ~ tojson(counted.rows.get(name, {})) ~ ' rows and ' ~ events.get(name, 0) ~ ' events instead of '
                ~ tojson(wanted_rows) ~ ' and ' ~ events.get(old, 0) ~ ' (' ~ old ~ ')') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for load_id in spark_cdc._forget_holders(capture, plan.sensitive, wanted, plan.tables, new) -%}
        {%- do problems.append(load_id ~ ' holds values of what is to be forgotten') -%}
    {%- endfor -%}
    {%- if counted.also.get('masked', 0) | int -%}{%- do problems.append(capture.masked ~ ' does not have the rows of ' ~ capture.ledger) -%}{%- endif -%}
    {%- if problems -%}
        {%- set message -%}
{{ capture.entity.name }}: what was written anew is not what was there: {{ problems | join('; ') }}. Nothing was committed and readers see what they saw before, but the keys are on the list: later {# -#}
loads bring no values of them. Run spark-cdc verify --select {{ capture.entity.name }} to find out what is wrong with the ledger, then the same command again.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Adds to cdc_loads the loads that were written anew, with the figures of the old ones, and what was done, as a row of its own that tells no key. -#}
{%- macro _record_forget(capture, manifest, plan, wanted) -%}
    {%- if plan.names -%}
        {%- set columns = [] -%}
        {%- for name in spark_cdc._load_log_columns() -%}
            {%- if name in ['load_id', 'parent_load_id', 'replaced_load_ids'] -%}
                {%- set source = 'parent_load_id' if name == 'parent_load_id' else 'load_id' -%}
                {%- set cases = [] -%}
                {%- for old, new in plan.names.items() -%}
                    {%- do cases.append("when '" ~ old ~ "' then '" ~ ((plan.records.get(old) or {}).get('parent') or '' if name == 'parent_load_id' else new) ~ "'") -%}
                {%- endfor -%}
                {%- do columns.append('load_id as replaced_load_ids' if name == 'replaced_load_ids' else 'nullif(case load_id ' ~ cases | join(' ') ~ " end, '') as " ~ name) -%}
            {%- else -%}
                {%- do columns.append(name) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- set sql -%}
insert overwrite table {{ capture.load_log }} by name
select
    {{ columns | join(',\n    ') }}
from {{ capture.load_log }}
where entity = '{{ capture.entity.name }}' and {{ spark_cdc._in_loads(plan.records | list or ['']) }}
        {%- endset -%}
        {%- do spark_cdc._set_overwrite(capture.load_log) -%}
        {%- do spark_cdc._send(sql) -%}
    {%- endif -%}
    {%- set last = manifest.loads[-1] -%}
    {#- replaced are also the new loads that do not count by themselves: undone, squashed, of a tag -#}
    {%- set load = {
        'load_id': last.split('-')[0] ~ '-g-' ~ spark_cdc._attempt(),
        'load_type': 'forget',
        'business_time': spark_cdc._load_time_text(capture.entity, last),
        'is_checkpoint': false,
        'parent': last,
        'replaced': plan.names | list + plan.dropped + plan.names.values() | reject('in', manifest.loads) | list,
        'status': 'forgotten',
        'message': spark_cdc._query('select current_user() as name')[0].name ~ ' forgot ' ~ spark_cdc._counted(wanted['keys'], 'key') ~ ': ' ~ spark_cdc._counted(plan.names | length, 'load') ~ ' written anew, '
            ~ spark_cdc._counted(plan.dropped | length, 'load') ~ ' that did not count dropped',
    } -%}
    {%- do spark_cdc._set_load_status(capture.load_log, 'committed', 'replaced', capture.entity.name, load.replaced) -%}
    {%- do spark_cdc._record_load(capture.load_log, capture.entity, load, {'rows_prior': manifest.rows, 'rows_current': manifest.rows}) -%}
{%- endmacro -%}


{#- The tables that publish the entity's rows, as names of models: no change feed tells them what was forgotten. -#}
{%- macro _forget_published(capture) -%}
    {%- set names = [] -%}
    {%- for node in graph.nodes.values() | selectattr('resource_type', 'equalto', 'model') if node.config.materialized == 'cdc_published' -%}
        {%- for id in node.depends_on.nodes if id.split('.')[-1] == capture.entity.name ~ '_changes' -%}{%- do names.append(node.name) -%}{%- endfor -%}
    {%- endfor -%}
    {{ return(names | unique | sort) }}
{%- endmacro -%}


{#- What was done, in words. -#}
{%- macro _forget_text(capture, wanted, names, held, dropped) -%}
{{ capture.entity.name }}: forgot {{ spark_cdc._counted(wanted['keys'], 'key') }}
{%- if wanted.listed %} ({{ wanted.listed }} of them on the list before){% endif %}: {{ held.values() | sum }} rows had values of them; {# -#}
{{ spark_cdc._counted(names | length, 'load') }} written anew{{ ', ' ~ spark_cdc._counted(dropped | length, 'load') ~ ' that did not count dropped' if dropped }}; later loads bring none
{%- endmacro -%}
