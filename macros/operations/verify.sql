{#- What the data tests that verify an entity have in common: ledger_rows_consistent,
    files_match_manifest, views_match_ledger, log_matches_ledger, archive_complete
    (tests/generic). Each selects its findings with the same columns: entity, problem, load_id
    (where it began), business_time (of that load), row_count, examples, repair. What only the
    catalogue tells is read while the test is compiled. -#}


{#- What there is of the entity that a model belongs to. Arguments: model (the relation that is
    tested; neither it nor the ledger need be there). Returns a context with ledger_node (dbt's),
    catalog (see _catalog_of()), manifest (an empty one where none can be read), loads (those
    that count), layout, rows (the ledger's under their declared names) and rows_shown (with
    sensitive columns masked); only loads, empty, where dbt parses or writes docs, and in a build
    that leaves such tests out. -#}
{%- macro _verified(model) -%}
    {%- if not execute or flags.WHICH == 'generate' or spark_cdc._verify_is_left_out() -%}{{ return({'loads': []}) }}{%- endif -%}
    {%- set ctx = spark_cdc._contexts('verify', spark_cdc._strip_entity_affix(model.identifier))[0] -%}
    {%- set catalog = spark_cdc._catalog_of(ctx) -%}
    {%- set text = catalog.get(ctx.committed.identifier, {}).get('text', '') -%}
    {%- set manifest = spark_cdc._empty_manifest() -%}
    {%- if ctx.ledger.identifier in catalog and 'spark_cdc manifest:' in text -%}
        {%- set manifest = spark_cdc._parse_manifest(text, ctx.committed) -%}
        {%- for table in ctx.ledgers if table.identifier in catalog -%}{%- do spark_cdc._refresh(table) -%}{%- endfor -%}
    {%- endif -%}
    {%- set layout = manifest.layout -%}
    {{ return(dict(
        ctx,
        catalog=catalog,
        manifest=manifest,
        loads=manifest.loads,
        layout=layout,
        rows=spark_cdc._across_changes(ctx.entity, ctx.ledger, layout),
        rows_shown=spark_cdc._across_changes(ctx.entity, ctx.public, layout),
    )) }}
{%- endmacro -%}


{#- A CTE: the loads that count, each with its kind (see _load_id()) and its neighbours. -#}
{%- macro _verified_loads(verified) -%}
loads as (
    select
        load_id,
        split_part(load_id, '-', 2) as kind,
        lag(load_id) over (order by load_id) as prior_load_id,
        min(if(load_id rlike '-[a-z]c-', load_id, null)) over (
            order by load_id rows between 1 following and unbounded following
        ) as next_checkpoint
    from (select explode(array('{{ verified.loads | join("', '") }}')) as load_id) as named
)
{%- endmacro -%}


{#- A CTE: what loads say of themselves. Arguments: verified (of _verified()), ledger (where it
    is read, if not from the ledger). -#}
{%- macro _verified_records(verified, ledger=none) -%}
records as (
    select
        load_id,
        count(*) as record_count,
        any_value(from_json(
            cdc__note,
            'load_id string, parent string, stands_for string, replaced array<string>, compacted array<string>, '
            || 'definition map<string, string>, events struct<event_count: bigint>'
        )) as record
    from {{ ledger or verified.ledger }}
    where
        {{ spark_cdc._in_loads(verified.loads) }}
        and operation = 'L'
    group by load_id
)
{%- endmacro -%}


{#- The business time of a load, told from its name, as SQL. -#}
{%- macro _verified_time(verified, load_id) -%}
{%- if verified.entity.eff_type == 'date' -%}
regexp_replace({{ load_id }}, '^(....)(..)(..).*', '$1-$2-$3')
{%- else -%}
regexp_replace(
    if({{ load_id }} like '________T%', {{ load_id }}, concat(left({{ load_id }}, 8), 'T000000')),
    '^(....)(..)(..)T(..)(..)(..).*',
    '$1-$2-$3 $4:$5:$6'
)
{%- endif -%}
{%- endmacro -%}


{#- What a test selects: its findings, from a CTE `found` with problem, load_id, repair (in which
    %s stands for a replay from the load on), and with row_count and examples if so told.
    Arguments: verified, is_of_loads (whether there is a CTE `records`), row_count, examples
    (SQL). -#}
{%- macro _verified_findings(verified, is_of_loads=true, row_count='null', examples='null') -%}
{%- set quote = '' if verified.entity.eff_type == 'date' else "\\'" -%}
select
    '{{ verified.entity.name }}' as entity,
    found.problem,
    found.load_id,
    {{ spark_cdc._verified_time(verified, 'found.load_id') | indent(4) }} as business_time,
    cast({{ row_count }} as bigint) as row_count,
    cast({{ examples }} as string) as examples,
    {%- if is_of_loads %}
    format_string(
        found.repair,
        format_string(
            'spark-cdc replay --from {{ quote }}%s{{ quote }} --select {{ verified.entity.name }}',
            {{ spark_cdc._verified_time(verified, 'coalesce(replays.first_load_id, found.load_id)') | indent(12) }}
        )
    ) as repair
from found
left join (
    {#- what compact merged can be replayed only together #}
    select
        load_id,
        coalesce(
            get(record.compacted, 0), if(load_id like '%-hc-%', lag(get(record.compacted, 0)) over (order by load_id), load_id)
        ) as first_load_id
    from records
) as replays
    on found.load_id = replays.load_id
    {%- else %}
    found.repair
from found
    {%- endif %}
{%- endmacro -%}


{#- What a test selects where nothing is loaded yet. -#}
{%- macro _verified_nothing() -%}
select
    {%- for name in ['entity', 'problem', 'load_id', 'business_time', 'row_count', 'examples', 'repair'] %}
    cast(null as {{ 'bigint' if name == 'row_count' else 'string' }}) as {{ name }}{{ ',' if not loop.last }}
    {%- endfor %}
where false
{%- endmacro -%}


{#- Findings that were made while the test was compiled, as a query with the columns of `found`:
    problem, load_id, repair, examples.
    Arguments: findings (dictionaries: problem, repair, examples; load_id where it is that of
    one). -#}
{%- macro _verified_list(findings) -%}
select
    listed.problem,
    listed.load_id,
    listed.repair,
    listed.examples
from (
    values
    {%- for finding in findings %}
    ({{ spark_cdc._literal(finding.problem) }}, {{ spark_cdc._literal(finding.load_id) if finding.get('load_id') else 'null' }}, {# -#}
    {{ spark_cdc._literal(finding.repair) }}, {{ spark_cdc._literal(finding.get('examples', '')) }}),
    {%- endfor %}
    (null, cast(null as string), null, null)
) as listed (problem, load_id, repair, examples)
where listed.problem is not null
{%- endmacro -%}


{#- Storage as files_match_manifest reads it, whatever is damaged there. Of plain files: all by
    their names, also those of folders that are no partition; the same opened, those left out that
    can't be; and what the metastore has registered. Table formats know which files they need: what
    is missing of them is found here.
    Returns a dictionary: table (the ledger; in a branch what it has written itself), findings
    (see _verified_list()), opened (where the records of loads are read: cdc__note, business_date,
    load_id, operation), records (where the records of all loads are), and of plain files listed
    (see _list_files()) and partitions (texts, see _partitions_by_load()). -#}
{%- macro _verified_files(verified) -%}
    {%- set table = verified.write.ledger -%}
    {%- set found = verified.catalog[table.identifier] -%}
    {%- set format = spark_cdc._table_format(table) -%}
    {%- if format -%}
        {%- do spark_cdc._read_despite_damage() -%}
        {{ return({
            'findings': (spark_cdc._verified_iceberg_files if spark_cdc._table_facts(format).lists_files else spark_cdc._verified_delta_files)(dict(verified, ledger=table), found.location),
            'opened': verified.ledger,
            'records': verified.ledger,
            'table': table,
            'listed': none,
        }) }}
    {%- endif -%}
    {%- set partitions = spark_cdc._partitions_by_load(verified.write.ledger).items() | selectattr(0, 'in', verified.loads) | map(attribute=1) -%}
    {%- set view = spark_cdc._view_of_test('spark_cdc_opened_' ~ verified.entity.name) -%}
    {%- do spark_cdc._send(spark_cdc._reader_view_sql(
        view.created, found.provider, ['path ' ~ spark_cdc._literal(found.location), "ignoreCorruptFiles 'true'", "ignoreMissingFiles 'true'"],
        ['cdc__note string', 'business_date date', 'load_id string', 'operation string'])) -%}
    {{ return({
        'findings': [],
        'listed': spark_cdc._list_files(found.location, 'spark_cdc_files_' ~ verified.entity.name),
        'opened': view.name,
        'records': view.name if table == verified.ledger else verified.ledger,
        'table': table,
        'partitions': partitions | sum(start=[]),
    }) }}
{%- endmacro -%}


{#- Delta says how many files its table has, and not which. -#}
{%- macro _verified_delta_files(verified, location) -%}
    {%- set wanted = spark_cdc._delta_detail(verified.ledger).numFiles | int -%}
    {%- set found = spark_cdc._query('select count(*) as files from ' ~ spark_cdc._files_of_table(verified.ledger, location))[0].files | int -%}
    {{ return([{
        'problem': spark_cdc._counted(wanted - found, 'file') ~ ' of the ' ~ wanted ~ ' of ' ~ verified.ledger ~ " can't be read; what log_matches_ledger finds "
            ~ 'tells the loads',
        'repair': 'restore them in ' ~ location ~ ' from a backup, or replay from the first of those loads',
    }] if found < wanted else []) }}
{%- endmacro -%}


{#- Iceberg lists its files, with their sizes. -#}
{%- macro _verified_iceberg_files(verified, location) -%}
    {%- set sql -%}
select
    listed.load_id,
    count(*) as files,
    min(listed.file) as example
from (
    select
        partition.load_id,
        {{ spark_cdc._path_in_table('file_path') }} as file,
        file_size_in_bytes
    from {{ verified.ledger }}.files
    where {{ spark_cdc._in_loads(verified.loads).replace('load_id', 'partition.load_id', 1) }}
) as listed
left anti join {{ spark_cdc._list_files(location, 'spark_cdc_files_' ~ verified.entity.name) }} as stored
    on
        listed.file = {{ spark_cdc._path_in_table('stored.path') }}
        and listed.file_size_in_bytes = stored.length
group by listed.load_id
order by listed.load_id
    {%- endset -%}
    {%- set findings = [] -%}
    {%- for row in spark_cdc._query(sql) -%}
        {%- do findings.append({
            'problem': spark_cdc._counted(row.files | int, 'file') ~ ' of the load is missing in storage, or has another length than Iceberg wrote',
            'load_id': row.load_id,
            'repair': 'restore it from a backup, or %s',
            'examples': row.example,
        }) -%}
    {%- endfor -%}
    {{ return(findings) }}
{%- endmacro -%}


{#- What is left, where everybody may read it, of loads and events from before an entity's
    columns were sensitive. Returns a list of findings, see _verified_list(). -#}
{%- macro _verified_leftovers(verified) -%}
    {%- set findings = [] -%}
    {%- set name = verified.entity.name -%}
    {%- set known = spark_cdc._partitions_by_load(verified.write.ledger) -%}
    {%- set left = spark_cdc._partitions_by_load(verified.write.public) | reject('in', known) | sort -%}
    {%- if left -%}
        {%- do findings.append({
            'problem': verified.public ~ ' holds ' ~ spark_cdc._counted(left | length, 'load') ~ ' from before its columns were sensitive',
            'repair': 'spark-cdc vacuum --select ' ~ name ~ ' --retention 0 --force',
            'examples': left[:3] | join(', '),
        }) -%}
    {%- endif -%}
    {%- for identifier in verified.catalog if identifier == name ~ '_events' or spark_cdc._is_set_aside(name, identifier) -%}
        {%- set table = spark_cdc._relation_in(verified.schema, identifier) -%}
        {%- do findings.append({
            'problem': 'the table ' ~ table ~ ' is left from before the columns of ' ~ name ~ ' were sensitive',
            'repair': 'drop table ' ~ table ~ ' purge',
        }) -%}
    {%- endfor -%}
    {{ return(findings) }}
{%- endmacro -%}


{#- What is wrong with the manifest: it, or the ledger, is missing; somebody replaced or altered it;
    it is not that of the last commit.
    Returns a list of findings, see _verified_list(). -#}
{%- macro _verified_manifest(verified) -%}
    {%- set name = verified.entity.name -%}
    {%- set committed = verified.catalog.get(verified.committed.identifier) -%}
    {%- set again = 'dbt run --select ' ~ name ~ '_committed' -%}
    {%- set dropped = 'drop view ' ~ verified.committed ~ '; then ' ~ again -%}
    {%- set manifest = verified.manifest -%}
    {%- set claims = {} -%}
    {%- for identifier, view in verified.catalog.items() if view.is_claim -%}
        {%- do claims.update({identifier: view.text}) -%}
    {%- endfor -%}
    {%- set from_claim = ' (which brings back the last commit)' if claims else '' -%}
    {%- set missing = [verified.ledger, verified.public] | rejectattr('identifier', 'in', verified.catalog) | list -%}
    {%- if missing -%}
        {{ return([{
            'problem': 'the table ' ~ missing[0] ~ ' is missing, which ' ~ verified.committed ~ ' reads',
            'repair': 'restore the table from a backup, or drop the view ' ~ verified.committed ~ ' and load anew',
        }] if committed else []) }}
    {%- elif not committed -%}
        {{ return([{
            'problem': 'the view ' ~ verified.committed ~ ' is missing, so that no load counts',
            'repair': again ~ (from_claim or ' after a load of the first date'),
        }] if claims or spark_cdc._partitions_by_load(verified.write.ledger) else []) }}
    {%- elif not manifest.existed -%}
        {{ return([{
            'problem': 'the view ' ~ verified.committed ~ ' is no manifest: somebody replaced it',
            'repair': dropped ~ from_claim,
        }]) }}
    {%- endif -%}

    {%- set findings = [] -%}
    {%- for identifier, text in claims.items() if 'spark_cdc manifest:' in text -%}
        {%- set claimed = spark_cdc._parse_manifest(text, identifier) -%}
        {%- if claimed.sequence == manifest.sequence and claimed.loads != manifest.loads -%}
            {%- set differing = manifest.loads | reject('in', claimed.loads) | join(', ') ~ ' too many, '
                ~ claimed.loads | reject('in', manifest.loads) | join(', ') ~ ' missing' -%}
            {%- do findings.append({
                'problem': 'the view ' ~ verified.committed ~ ' names other loads than its last commit: ' ~ differing, 'repair': dropped,
            }) -%}
        {%- elif claimed.sequence > manifest.sequence -%}
            {%- set said = ': commit ' ~ claimed.sequence ~ ' is claimed but not shown yet; the next run of ' ~ name ~ ' finishes it' -%}
            {%- do log(name ~ said, info=true) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set expected = spark_cdc._committed_sql(verified.entity, verified.public, manifest) -%}
    {%- if not findings and expected.split() != committed.text.split() -%}
        {%- do findings.append({
            'problem': 'the text of the view ' ~ verified.committed ~ ' is not what its manifest makes: somebody altered it, or another version of '
                ~ 'spark_cdc wrote it',
            'repair': again,
        }) -%}
    {%- endif -%}
    {%- if manifest.loads != manifest.loads | sort -%}
        {%- do findings.append({
            'problem': 'the manifest names its loads in another order than that of their dates',
            'examples': manifest.loads | join(', '),
            'repair': again,
        }) -%}
    {%- endif -%}
    {{ return(findings) }}
{%- endmacro -%}


{#- The views by their texts: whether they are there, and as the project makes them. Those that add
    something of their own are not judged; nor are those that this same `dbt build` makes only after
    the tests of the manifest.
    Returns a dictionary: findings (see _verified_list()), compared (kind to name of the views
    whose rows tell, too). -#}
{%- macro _verified_views(verified) -%}
    {%- set findings = [] -%}
    {%- set compared = {} -%}
    {%- set package = verified.ledger_node.unique_id.rsplit('.', 1)[0] -%}
    {%- set kinds = spark_cdc._view_kinds() | reject('in', ['rejects', 'quality']) | list -%}
    {%- set both = [] -%}
    {%- for suffix in ['', '_sensitive'] -%}{%- for kind in kinds -%}{%- do both.append((kind, suffix)) -%}{%- endfor -%}{%- endfor -%}
    {%- for kind, suffix in both -%}
        {%- set node = graph.nodes.get(package ~ '.' ~ verified.entity.name ~ '_' ~ kind ~ suffix) -%}
        {%- set is_built_later = flags.WHICH in ['build', 'retry'] and node and node.unique_id in selected_resources -%}
        {%- set code = '' if not node else node.raw_code.split() | join | replace('{' ~ '{-', '{' ~ '{') | replace('-}' ~ '}', '}' ~ '}') -%}
        {%- if node and not is_built_later and code == '{' ~ '{spark_cdc.' ~ kind ~ '()}' ~ '}' -%}
            {%- set view = spark_cdc._relation_in(node.schema, node.alias) -%}
            {%- set found = verified.catalog.get(node.alias, {}).get('text') -%}
            {%- set accepted = [] -%}
            {%- set read = spark_cdc._relation_in(verified.ledger.schema, verified.entity.name ~ '_committed_sensitive') if suffix else verified.committed -%}
            {#- What a view's query may be: current has a hint or not. -#}
            {%- set entity = verified.entity -%}
            {%- if kind == 'current' -%}
                {%- set queries = [spark_cdc._current_sql(entity, read, true), spark_cdc._current_sql(entity, read, false)] -%}
            {%- else -%}
                {%- set of_committed = {
                    'latest': spark_cdc._latest_sql, 'history': spark_cdc._history_sql,
                    'versions': spark_cdc._versions_sql, 'changes': spark_cdc._changes_sql,
                } -%}
                {%- if kind in of_committed -%}{%- set queries = [of_committed[kind](entity, read)] -%}{%- else -%}
                    {%- set view_sql = spark_cdc._bitemporal_sql if kind == 'bitemporal' else spark_cdc._event_versions_sql -%}
                    {%- set queries = [view_sql(entity, verified.events, verified.committed, verified.layout)] -%}
                {%- endif -%}
            {%- endif -%}
            {%- for query in queries -%}
                {%- set text = spark_cdc._typed_view_query(query, verified.manifest) -%}
                {%- do accepted.append(spark_cdc._stamped_view_query(text, 'spark_cdc view ' ~ local_md5(text)).split()) -%}
            {%- endfor -%}
            {%- if not found -%}
                {%- do findings.append({'problem': 'the view ' ~ view ~ ' is missing', 'repair': 'dbt run --select ' ~ node.name}) -%}
            {%- elif found.split() not in accepted -%}
                {%- set is_stamped = 'spark_cdc view ' in found -%}
                {%- do findings.append({
                    'problem': 'the text of the view ' ~ view ~ ' is not what the project makes: somebody altered it, or another version of '
                        ~ 'spark_cdc wrote it',
                    'repair': ('drop view ' ~ view ~ '; then ' if is_stamped else '') ~ 'dbt run --select ' ~ node.name,
                }) -%}
            {%- elif kind in ['current', 'history', 'versions'] and not suffix -%}
                {%- do compared.update({kind: view}) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return({'findings': findings, 'compared': compared}) }}
{%- endmacro -%}


{#- A part of state(): the data tests that verify an entity. Returns a dictionary: model (which the
    tests belong to), tests (by dbt's unique_id, their names), lacking (those that the YAML does not
    have). -#}
{%- macro _state_tests(ctx) -%}
    {%- set entity, model, tests = ctx.entity, ctx.entity.name ~ '_committed', {} -%}
    {%- for node in graph.nodes.values() if node.resource_type == 'test' and 'spark_cdc_verify' in node.tags
            and node.attached_node == ctx.ledger_node.unique_id.rsplit('.', 1)[0] ~ '.' ~ model -%}
        {%- do tests.update({node.unique_id: node.test_metadata.name}) -%}
    {%- endfor -%}
    {%- set wanted = ['ledger_rows_consistent', 'files_match_manifest', 'views_match_ledger', 'log_matches_ledger']
            + (['archive_complete'] if entity.events and entity.events.archive else []) + (['masks_hold'] if entity.sensitive else []) -%}
    {{ return({'model': model, 'tests': tests, 'lacking': wanted | reject('in', tests.values()) | list}) }}
{%- endmacro -%}


{#- A part of state(): the rows of such tests, of which dbt only tells how many there are. Argument:
    tests (by entity, their names). Returns a list of dictionaries, see _verified_findings(). -#}
{%- macro _state_findings(ctx, tests) -%}
    {%- set rows = [] -%}
    {%- for name in tests.get(ctx.entity.name, []) -%}
        {%- for row in spark_cdc._query(context['spark_cdc']['test_' ~ name](ctx.committed)) -%}
            {%- do rows.append(dict(row, row_count=none if row.row_count is none else row.row_count | int)) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(rows) }}
{%- endmacro -%}


{#- Whether the tests of whole ledgers look at nothing: in dbt build, where each load would wait
    for them, unless the project or the selection asks for them. -#}
{%- macro _verify_is_left_out() -%}
    {{ return(flags.WHICH in ['build', 'retry'] and not spark_cdc._var('spark_cdc_verify_in_build')
        and 'spark_cdc_verify' not in (invocation_args_dict.get('select') or '') | string) }}
{%- endmacro -%}


{#- Says so at the end of such a build, where these tests have passed. Argument: results
    (dbt's). -#}
{%- macro _verify_note(results) -%}
    {%- set tests = [] -%}
    {%- for result in results if spark_cdc._verify_is_left_out() and 'spark_cdc_verify' in (result.node.tags or []) -%}{%- do tests.append(result) -%}{%- endfor -%}
    {%- if tests -%}
        {%- do log('spark_cdc: ' ~ spark_cdc._counted(tests | length, 'test') ~ ' of whole ledgers looked at nothing, as in every dbt build. To run them: spark-cdc verify, '
            ~ 'dbt test --select tag:spark_cdc_verify, or in each build the var spark_cdc_verify_in_build', info=true) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Lets this session read on where files are missing or damaged, or no longer (on: false):
    verify is to find them, and the replay that brings their rows back is not to stop at them.
    dbt opens a session anew for each node and operation, but where all nodes share one (method
    session): what loads there would leave rows out unnoticed, so there it is not done. -#}
{%- macro _read_despite_damage(on=true) -%}
    {%- for setting in ['spark.sql.files.ignoreMissingFiles', 'spark.sql.files.ignoreCorruptFiles'] if target.method != 'session' -%}
        {%- do spark_cdc._set(setting, 'true' if on else none) -%}
    {%- endfor -%}
    {%- if on and target.method != 'session' -%}{%- do spark_cdc._set('parquet.page.verify-checksum.enabled', 'true') -%}{%- endif -%}
{%- endmacro -%}


{#- The same as _behind_columns(), of an entity's last commit, for data tests of its views. -#}
{%- macro _behind_last_load(entity) -%}
    {%- for name, _, ledger in spark_cdc._entity_nodes() if name == entity.name -%}
        {%- set committed = spark_cdc._relation_in(graph.nodes[ledger].schema, name ~ '_committed') -%}
        {%- set manifest = spark_cdc._cached_manifest(committed) or spark_cdc._read_manifest(committed) -%}
        {#- hashes are of the last load's own columns; after an undo readers may see others -#}
        {{ return(spark_cdc._behind_columns(entity, manifest.entries[-1].definition if manifest.loads else none)) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}
