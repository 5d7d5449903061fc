{#- dbt's snapshots look up their table with this. dbt-spark recognizes Iceberg by the table's
    provider, which is Hive's where Iceberg is the session's catalog: it would refuse the second
    snapshot. -#}
{%- macro spark__get_or_create_relation(database, schema, identifier, type) -%}
    {%- set found, relation = default__get_or_create_relation(database, schema, identifier, type) -%}
    {%- if found and spark_cdc._provider_of(relation) == 'iceberg' -%}
        {%- set relation = relation.incorporate(is_iceberg=true) -%}
    {%- endif -%}
    {{ return([found, relation]) }}
{%- endmacro -%}


{#- The eight characters that identify this run of dbt. -#}
{%- macro _run_id8() -%}{{ return(local_md5(invocation_id)[:8]) }}{%- endmacro -%}


{#- Spark's answer to EXPLAIN: the plan of a query, or the reason why there is none. -#}
{%- macro _plan(sql) -%}{{ return(spark_cdc._query('explain ' ~ sql) | map(attribute='plan') | join('\n')) }}{%- endmacro -%}


{#- The path that does not exist; none if all do. -#}
{%- macro _plan_missing_path(plan) -%}
    {%- set after = plan.split('PATH_NOT_FOUND] Path does not exist: ')[1:] | first | default('') -%}
    {{ return(after.split('\n')[0].split(' SQLSTATE')[0].split(';')[0].removesuffix('.') if after | trim else none) }}
{%- endmacro -%}


{#- Why Spark can't plan a query, in its own words; none if it can. -#}
{%- macro _plan_refusal(plan) -%}
    {%- for words in plan.split('Error occurred during query planning:')[1:2] -%}
        {%- set cause = words.split('SQLSTATE')[0].split('; line ')[0] -%}
        {{ return((cause.split() | join(' ')).strip(' .;')[:500]) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- The paths that a query on files reads. Returns a dictionary: count, paths (text, cut off at
    spark.sql.maxMetadataStringLength). -#}
{%- macro _plan_paths(plan) -%}
    {%- for scan in plan.split('InMemoryFileIndex(')[1:2] if ' paths)' in scan -%}
        {%- set count, listed = scan.split('\n')[0].split(' paths)', 1) -%}
        {%- set is_listed = listed[:1] == '[' and '], PartitionFilters' in listed -%}
        {{ return({
            'count': count | int,
            'paths': listed[1:].rsplit('], PartitionFilters', 1)[0] if is_listed else '',
        }) }}
    {%- endfor -%}
    {{ return({'count': 0, 'paths': ''}) }}
{%- endmacro -%}


{#- The format of a table as dbt's cached relation has it; an empty text where it does not say.
    Iceberg's tables have Hive's provider there. Argument: cached (relation, or none). -#}
{%- macro _provider_of(cached) -%}
    {%- set information = (cached.information if cached is not none else none) or '' -%}
    {%- if 'table_type=ICEBERG' in information -%}{{ return('iceberg') }}{%- endif -%}
    {%- for line in information.split('\n') | map('trim') if line.startswith('Provider:') -%}
        {{ return(line.removeprefix('Provider:') | trim | lower) }}
    {%- endfor -%}
    {{ return('') }}
{%- endmacro -%}


{#- Where a table's files lie, as `show table extended` tells; an empty text where it does not
    say. -#}
{%- macro _location_in(information) -%}{{ return(information.partition('\nLocation: ')[2].split('\n')[0]) }}{%- endmacro -%}


{#- The rows of a query, as a list of dictionaries by column name. -#}
{%- macro _query(sql) -%}
    {%- set rows = [] -%}
    {%- for row in run_query(sql).rows -%}{%- do rows.append(dict(row.items())) -%}{%- endfor -%}
    {{ return(rows) }}
{%- endmacro -%}


{#- A relation by schema and name. -#}
{%- macro _relation_in(schema, identifier) -%}
    {{ return(api.Relation.create(database=none, schema=schema, identifier=identifier)) }}
{%- endmacro -%}


{#- Send a statement that gives no rows. Other than run_query() it fetches nothing, which saves a
    call, and which PyHive can't where Spark 3.5 answers without a column. Where an operation only
    prints what it would do, nothing is sent but what ends with the session. -#}
{%- macro _send(sql) -%}
    {%- if spark_cdc._memo().get('mode') == 'plan' and (sql | trim).split(' ')[0] not in ['set', 'reset', 'refresh', 'call']
            and not (sql | trim).replace(' global ', ' ').startswith('create or replace temporary view') -%}
        {%- do log('spark_cdc would send: ' ~ sql) -%}
        {{ return('') }}
    {%- endif -%}
    {%- call statement(none, auto_begin=false) -%}
        {{- sql -}}
    {%- endcall -%}
{%- endmacro -%}


{#- What dbt's configuration asks of the model's relation beside its rows: grants, which Apache
    Spark's SQL does not have, and descriptions (persist_docs), which are sent when they differ
    from those that dbt's cache, which was filled before the model ran, says are there.
    Never descriptions of the view whose text is the commit: the metastore would get its whole
    entry anew, as it was when Spark read it; nor of the view that a branch has in a table's
    place. -#}
{%- macro _apply_config() -%}
    {%- set grants, docs = config.get('grants') or {}, config.get('persist_docs') or {} -%}
    {%- set is_table = config.get('materialized') not in ['cdc_view', 'cdc_committed'] -%}
    {%- set kind = ('table' if spark_cdc._write_target(this) == this else none) if is_table
        else 'view' if config.get('materialized') == 'cdc_view' else none -%}
    {%- if grants and target.method in ['http', 'odbc'] -%}{%- do apply_grants(this, grants, should_revoke=true) -%}{%- endif -%}
    {%- set text, columns = model.description if docs.get('relation') else '', {} -%}
    {%- for name, column in model.columns.items() if docs.get('columns') and kind == 'table' and column.description -%}
        {%- do columns.update({name | lower: column.description}) -%}
    {%- endfor -%}
    {%- set print, cached = local_md5(tojson([text, columns])), spark_cdc._known(this) -%}
    {%- set known = (cached.information if cached is not none else none) or '' -%}
    {%- if kind and (text or columns) and spark_cdc._mode() == 'load' and ('spark_cdc.docs=' ~ print) not in known -%}
        {%- for column in (adapter.get_columns_in_relation(this) if columns else []) if column.name | lower in columns -%}
            {%- do spark_cdc._send('alter table ' ~ this ~ ' alter column ' ~ spark_cdc._quote(column.name) ~ ' comment ' ~ spark_cdc._literal(columns[column.name | lower])) -%}
        {%- endfor -%}
        {%- do spark_cdc._send('alter ' ~ kind ~ ' ' ~ this ~ ' set tblproperties (' ~ ("'comment' = " ~ spark_cdc._literal(text) ~ ', ' if text else '')
            ~ "'spark_cdc.docs' = '" ~ print ~ "')") -%}
    {%- endif -%}
{%- endmacro -%}


{#- The version of Spark, asked once in a run: (numbers, text). numbers: major and minor, or none
    where a vendor answers with another kind of text. -#}
{%- macro _spark_version() -%}
    {%- set memo = spark_cdc._memo() -%}
    {%- if 'spark version' in memo -%}{{ return(memo['spark version']) }}{%- endif -%}
    {%- set text = (spark_cdc._query('select version() as version') | first | default({})).get('version') | string -%}
    {%- set numbers = text.replace('-', '.').replace(' ', '.').split('.')[:2] -%}
    {%- set is_known = numbers | length == 2 and numbers[0].isdigit() and numbers[1].isdigit() -%}
    {%- do memo.update({'spark version': (numbers | map('int') | list if is_known else none, text.split(' ')[0])}) -%}
    {{ return(memo['spark version']) }}
{%- endmacro -%}


{#- The table format of a table; none of one of plain files. A table that dbt's cache lacks is
    described. -#}
{%- macro _table_format(table) -%}
    {%- set cached = spark_cdc._provider_of(spark_cdc._known(table)) -%}
    {%- set described = [] if cached else spark_cdc._query('describe table extended ' ~ table) -%}
    {%- set provider = cached or described | selectattr('col_name', 'equalto', 'Provider')
        | map(attribute='data_type') | map('lower') | first | default('') -%}
    {{ return(provider if provider in spark_cdc._table_formats() else none) }}
{%- endmacro -%}


{#- The table formats keep a log of a table's files and past states (snapshots). Their partitions
    are rows of that log, not folders that the metastore knows. -#}
{%- macro _table_formats() -%}{{ return(['delta', 'iceberg']) }}{%- endmacro -%}


{#- Values computed once in a run of dbt, by name. They live in dbt's graph, which all nodes and
    threads share: only whole values go in, and nobody changes them. Empty while dbt parses, and in
    a unit test, whose entity may differ from the project's. -#}
{%- macro _memo() -%}
    {%- if not execute or (model is defined and model.get('resource_type') == 'unit_test') -%}{{ return({}) }}{%- endif -%}
    {%- set memo = graph.setdefault('spark_cdc', {'run': invocation_id}) -%}
    {%- if memo.run != invocation_id -%}
        {#- a program that calls dbt again with the manifest that it has: vars may be other ones -#}
        {%- set memo = {'run': invocation_id} -%}
        {%- do graph.update({'spark_cdc': memo}) -%}
    {%- endif -%}
    {{ return(memo) }}
{%- endmacro -%}


{#- What this run of dbt does, decided here and nowhere else:
    load     dbt run, build or retry; it has begun with validate(), which creates the schemas of
             claims
    operate  an operation
    plan     an operation that only prints what it would do (_check_arguments()); _send() writes
             nothing
    look     everything else, such as compile and show; also --empty, and --sample, whose part of a
             source is not to be taken for all of it
    A run without a business date is a load that loads nothing: _is_loading().
    Returns the word. -#}
{%- macro _mode() -%}
    {%- set memo = spark_cdc._memo() -%}
    {%- if not memo.get('mode') -%}
        {%- set is_load = spark_cdc._is_run() -%}
        {%- set mode = 'operate' if flags.WHICH == 'run-operation' else 'load' if is_load else 'look' -%}
        {%- do memo.update({'mode': mode}) -%}
        {{ return(mode) }}
    {%- endif -%}
    {{ return(memo.mode) }}
{%- endmacro -%}


{#- Whether this is dbt run, build or retry with all rows. -#}
{%- macro _is_run() -%}
    {{ return(flags.WHICH in ['run', 'build', 'retry'] and not flags.EMPTY and not invocation_args_dict.get('sample')) }}
{%- endmacro -%}


{#- Whether dbt is version 2 (docs/dbt_versions.md). -#}
{%- macro _of_dbt_2() -%}{{ return(dbt_version.startswith('2.')) }}{%- endmacro -%}


{#- What this dbt is not tested with, of what it is asked for. On dbt v2 that is all but what
    tests/test_dbt_v2_loads.py does. Argument: asked (rows of a text and whether it is tested).
    Returns a list of texts. -#}
{%- macro _dbt_problems(asked) -%}
    {%- set found = [] -%}
    {%- for what, is_tested in asked if spark_cdc._of_dbt_2() and not is_tested -%}
        {%- do found.append(what ~ ' is not tested with dbt ' ~ dbt_version ~ ': run this with dbt 1.11 or 1.12 (docs/dbt_versions.md).') -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- Prints what a program asked for, as one line of JSON that begins with `spark_cdc: `; the command
    line reads it.
    Arguments: entities (dictionaries: entity, the name, and data by the names of parts, see
    state()), more (what is not of one entity). -#}
{%- macro _print_data(entities, more={}) -%}{%- do print('spark_cdc: ' ~ tojson(dict(more, entities=entities))) -%}{%- endmacro -%}


{#- Whether spark-cdc runs this command of dbt: it reads data, and its user types its commands. -#}
{%- macro _is_of_command_line() -%}{{ return(env_var('SPARK_CDC_DATA', '') != '') }}{%- endmacro -%}


{#- Prints data in a command of dbt that spark-cdc runs; people get a sentence of it in others.
    Arguments: name (of an entity), part (what is told of it), data. Returns whether it was
    printed. -#}
{%- macro _is_told(name, part, data=true) -%}
    {%- if spark_cdc._is_of_command_line() -%}{%- do spark_cdc._print_data([{'entity': name, part: data}]) -%}{%- endif -%}
    {{ return(spark_cdc._is_of_command_line()) }}
{%- endmacro -%}


{#- The version of this package, as dbt_project.yml and pyproject.toml have it. -#}
{%- macro _version() -%}{{ return('1.0.0') }}{%- endmacro -%}


{#- A relation of ref() with all its rows: --empty and --sample would limit a view or a test to a
    part. -#}
{%- macro _unsampled(relation) -%}
    {#- relations of dbt v2 have neither -#}
    {{ return(relation.replace(limit=none, event_time_filter=none) if relation.limit is number or relation.event_time_filter else relation) }}
{%- endmacro -%}


{#- A context (see _context()) with `write`: the tables that its ledger, public, events and load_log
    are written to, decided here for all that follows. -#}
{%- macro _writing(ctx) -%}
    {%- set write = {} -%}
    {%- for name in ['ledger', 'public', 'events', 'load_log'] -%}
        {%- do write.update({name: spark_cdc._write_target(ctx[name]) if ctx[name] else none}) -%}
    {%- endfor -%}
    {{ return(dict(ctx, write=write)) }}
{%- endmacro -%}


{#- The table to write to. In a branch (docs/branches.md) a view with production's rows has the
    table's name, and the branch writes to <name>_own. dbt's cache tells; where nothing is written,
    as by compile, it is not asked, since that would take a server. -#}
{%- macro _write_target(table) -%}
    {%- set found = spark_cdc._known(table) if spark_cdc._mode() != 'look' else none -%}
    {%- if found is none or '\nType: VIEW\n' not in (found.information or '') -%}{{ return(table) }}{%- endif -%}
    {{ return(spark_cdc._relation_in(table.schema, table.identifier ~ '_own')) }}
{%- endmacro -%}


{#- The view <schema>_commits.spark_cdc_branch makes a schema a branch (docs/branches.md). A comment
    in its text names production's schema (of) and the branch (name). It is created first and
    dropped last, so that create and drop can be repeated. -#}
{%- macro _branch_marker(schema) -%}
    {{ return(spark_cdc._relation_in(schema ~ '_commits', 'spark_cdc_branch')) }}
{%- endmacro -%}


{#- The content of a schema's marker; none without one. -#}
{%- macro _branch_marker_of(schema) -%}
    {%- set marker = spark_cdc._branch_marker(schema) -%}
    {%- if not spark_cdc._query('show schemas like ' ~ spark_cdc._literal(marker.schema))
            or not spark_cdc._query('show views in ' ~ spark_cdc._quote(marker.schema) ~ ' like ' ~ spark_cdc._literal(marker.identifier)) -%}
        {{ return(none) }}
    {%- endif -%}
    {{ return(spark_cdc._branch_origin(spark_cdc._query('show create table ' ~ marker)[0].createtab_stmt)) }}
{%- endmacro -%}


{#- Drops a folder with its files. No statement removes files, so the folder becomes a partition
    that is added and dropped at once. Arguments: table (a relation of Parquet or ORC), folder. -#}
{%- macro _drop_folder(table, folder) -%}
    {%- set values, known = [], {'business_date': '1970-01-01', 'load_id': 'spark-staging'} -%}
    {%- for name in spark_cdc._partition_names(table) -%}{%- do values.append(name ~ " = '" ~ known.get(name, '-') ~ "'") -%}{%- endfor -%}
    {%- set partition = 'partition (' ~ values | join(', ') ~ ')' -%}
    {#- an interrupted statement may have left the partition -#}
    {%- do spark_cdc._send('alter table ' ~ table ~ ' drop if exists ' ~ partition) -%}
    {%- do spark_cdc._send('alter table ' ~ table ~ ' add ' ~ partition ~ ' location ' ~ spark_cdc._literal(folder)) -%}
    {%- do spark_cdc._send('alter table ' ~ table ~ ' drop ' ~ partition) -%}
{%- endmacro -%}


{#- Drops the partitions of some loads, and no others: another run may be between its two tables.
    Arguments: table, loads, purge (whether to bypass the storage's trash). -#}
{%- macro _drop_loads(table, loads, purge=false) -%}
    {%- if spark_cdc._table_format(table) -%}
        {{ return(spark_cdc._send('delete from ' ~ table ~ ' where ' ~ spark_cdc._in_loads(loads)) if loads else '') }}
    {%- endif -%}
    {%- set partitions = [] -%}
    {%- for load_id, of_load in spark_cdc._partitions_by_load(table).items() if load_id in loads -%}
        {%- do partitions.extend(of_load) -%}
    {%- endfor -%}
    {%- if partitions -%}
        {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(table, partitions) ~ ('\npurge' if purge else '')) -%}
    {%- endif -%}
{%- endmacro -%}


{#- The partitions of a table by load, as texts such as
    business_date=2024-03-01/load_id=…/operation=I. Iceberg lists them in a table of its own; of
    Delta's rows the query reads no column.
    Argument: entity (of cdc_loads: the name of the entity whose partitions are wanted). -#}
{%- macro _partitions_by_load(table, entity=none) -%}
    {%- set partitions, parts = {}, [] -%}
    {%- set format = spark_cdc._table_format(table) -%}
    {%- for name in spark_cdc._partition_names(table) -%}
        {%- do parts.append("concat('" ~ name ~ "=', " ~ ('partition.' if format == 'iceberg' else '') ~ name ~ ')') -%}
    {%- endfor -%}
    {%- set listed -%}
select distinct concat_ws('/', {{ parts | join(', ') }}) as partition
from {{ table }}{{ '.partitions' if format == 'iceberg' }}
    {%- endset -%}
    {%- set shown = 'show partitions ' ~ table ~ (" partition (entity = '" ~ entity ~ "')" if entity else '') -%}
    {%- for row in spark_cdc._query(listed if format else shown) -%}
        {%- do partitions.setdefault(row.partition.split('load_id=')[-1].split('/')[0], []).append(row.partition) -%}
    {%- endfor -%}
    {{ return(partitions) }}
{%- endmacro -%}


{#- The partition columns of a ledger, of an <entity>_events, or of cdc_loads. -#}
{%- macro _partition_names(table) -%}
    {%- set name = table.identifier.removesuffix('_own').removesuffix('_sensitive') -%}
    {%- if name == 'cdc_loads' -%}{{ return(['entity', 'load_id', 'status']) }}{%- endif -%}
    {{ return(['business_date', 'load_id'] + (['operation'] if name.endswith('_ledger') else [])) }}
{%- endmacro -%}


{#- The statement that drops partitions, given as texts of _partitions_by_load(). Table formats
    unlist the files of whole partitions and delete no row. -#}
{%- macro _drop_partitions_sql(table, partitions) -%}
{%- set texts = [] -%}
{%- set format = spark_cdc._table_format(table) -%}
{%- for partition in partitions -%}
    {%- set values = [] -%}
    {%- for part in partition.split('/') -%}
        {%- do values.append(part.split('=')[0] ~ ' = ' ~ spark_cdc._literal(part.split('=')[1])) -%}
    {%- endfor -%}
    {%- do texts.append(values | join(' and ') if format else 'partition (' ~ values | join(', ') ~ ')') -%}
{%- endfor -%}
{{ 'delete from ' ~ table ~ '\nwhere' if format else 'alter table ' ~ table ~ ' drop if exists' }}
    {{ texts | join('\n    or ' if format else ',\n    ') }}
{%- endmacro -%}


{#- The table of an entity, or cdc_loads, if it is not there. Its options spare each load a
    statement: an overwrite replaces only the partitions that are written, and Parquet's pages are
    held against their checksums, which are written in any case
    (https://parquet.apache.org/docs/file-format/data-pages/checksumming). Hashes are dear and never
    repeat, so in Parquet files the hash columns do without a dictionary; ORC makes none of binary
    columns. What goes with the next load does without any, which takes half the time of the write.
    Iceberg is to write rows as they come, as the others do, without a shuffle and a sort of its
    own, and not to keep a copy of its list of snapshots for each load. Delta is to keep no minimum
    and maximum of columns in its log: the footers of the files have them, and they take a fifth of
    the write.
    Arguments: table (relation), columns (dictionaries with at_sql and data_type), file_format,
    partitions (names), hashes (names of hash columns), is_kept (whether the rows stay behind the
    next load). -#}
{%- macro _create_table_sql(table, columns, file_format, partitions, hashes=[], is_kept=true) -%}
create table if not exists {{ table }} (
    {%- for column in columns %}
    {{ column.at_sql }} {{ column.data_type }}{{ ',' if not loop.last }}
    {%- endfor %}
)
using {{ file_format }}
partitioned by ({{ partitions | join(', ') }})
{%- if file_format == 'iceberg' %}
tblproperties (
    'write.distribution-mode' 'none',
    'write.spark.fanout.enabled' 'true',
    'write.metadata.delete-after-commit.enabled' 'true',
    'write.metadata.previous-versions-max' '20'
)
{%- elif file_format == 'delta' %}
tblproperties (
    'delta.dataSkippingNumIndexedCols' '0'
)
{%- elif file_format in ['parquet', 'orc'] %}
options (
    {%- if file_format == 'parquet' %}
    {%- if not is_kept %}
    `parquet.enable.dictionary` 'false',
    {%- endif %}
    {%- for name in hashes %}
    `parquet.enable.dictionary#{{ name }}` 'false',
    {%- endfor %}
    `parquet.page.verify-checksum.enabled` 'true',
    {%- endif %}
    `partitionOverwriteMode` 'dynamic'
)
{%- endif %}
{%- endmacro -%}


{#- Whether a table has an option, as dbt's look at the catalogue has it; one that it has not seen
    is of this run, and has all that _create_table_sql() gives.
    Argument: option (as name=value). -#}
{%- macro _has_option(table, option) -%}
    {%- set cached = spark_cdc._known(table) -%}
    {%- if cached is none -%}{{ return(true) }}{%- endif -%}
    {%- for line in (cached.information or '').split('\n') if line.startswith('Storage Properties: [') -%}
        {{ return(option in line.removeprefix('Storage Properties: [').removesuffix(']').split(', ')) }}
    {%- endfor -%}
    {{ return(false) }}
{%- endmacro -%}


{#- Only the partitions that are written are to be replaced: tables of plain files have an option
    for it, for others, and where nobody has looked, this session is told. -#}
{%- macro _set_overwrite(table) -%}
    {%- if spark_cdc._known(table) is none or not spark_cdc._has_option(table, 'partitionOverwriteMode=dynamic') -%}
        {%- do spark_cdc._send('set spark.sql.sources.partitionOverwriteMode = dynamic') -%}
    {%- endif -%}
{%- endmacro -%}


{#- The text of the view that a branch (docs/branches.md) has in a table's place: what the branch
    has written, which lies in <name>_own, and the rows of production's table, where they are. Both
    sides name partitions as columns, so that Spark prunes those of either.
    Arguments: table (relation of the view), origin (what the text's comment says: of, schema and
    name of production's table; columns, that it had when the branch was made, in lower case; and,
    of the ledger, definition, of the committed loads then; of cdc_loads until, by entity the
    microsecond up to which its rows are shown), columns (of <name>_own, in its order: name,
    dtype). -#}
{%- macro _branch_table_text(table, origin, columns) -%}
{%- set own = spark_cdc._relation_in(table.schema, table.identifier ~ '_own') -%}
select
    /* spark_cdc branch: {{ spark_cdc._comment_json(origin) }} */
    {% for column in columns -%}
    {{ spark_cdc._quote(column.name) }}{{ ',' if not loop.last }}
    {% endfor -%}
from {{ own }}

union all

select
    {%- for column in columns %}
    {{ spark_cdc._aliased(
        spark_cdc._quote(column.name) if column.name | lower in origin.columns else 'cast(null as ' ~ column.dtype ~ ')',
        spark_cdc._quote(column.name)) }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ spark_cdc._relation_in(origin.of.schema, origin.of.name) }}
    {%- if origin.until is defined %} as theirs
where
    not exists (select 1 from {{ own }} as ours where ours.entity = theirs.entity and ours.load_id = theirs.load_id)
    and (
        {%- for until in origin.until.values() | unique | sort %}
        {%- set names = origin.until.items() | selectattr(1, 'equalto', until) | map(attribute=0) | sort %}
    {{ 'or ' if not loop.first }}(entity in ({{ spark_cdc._literals(names) }}) and coalesce(committed_at, started_at) <= timestamp_micros({{ until }}))
        {%- endfor %}
    )
    {%- endif %}
{%- endmacro -%}


{#- What the comment in such a view's text, or in a marker's, says; none where it is no such
    view. -#}
{%- macro _branch_origin(text) -%}
    {%- set comment = (text or '').split('/* spark_cdc branch: ')[1:] | first | default('') -%}
    {{ return(fromjson(comment.split(' */')[0]) if comment else none) }}
{%- endmacro -%}
