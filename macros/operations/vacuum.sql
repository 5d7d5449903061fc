{#- Drops what no manifest names any more, by metadata alone: partitions of ledgers, of archived
    events and of kept input that were superseded (by a rerun, a replay, compact) or that a crash
    left, once they are older than a retention time. Queries that began before may still read them
    until then. Without execute it only says what it would drop.
        dbt run-operation spark_cdc.vacuum --args '{entities: [orders], execute: true}'
    A superseded load's age counts from the commit of the load that took its place, any other's from
    its newest file.
    Arguments: entities (list of names, or one; none for all), retention_hours, execute, force
    (whether a retention below 24 hours is accepted). Returns the number of loads that were
    dropped, or would be. -#}
{%- macro vacuum(entities=none, retention_hours=168, execute=false, force=false) -%}
    {%- do spark_cdc._check_arguments('vacuum', {'entities': entities, 'retention_hours': retention_hours, 'execute': execute, 'force': force}) -%}
    {%- if retention_hours < 24 and not force -%}
        {% do exceptions.raise_compiler_error(
            "spark_cdc.vacuum: retention_hours is '" ~ retention_hours ~ "'; accepted are numbers from 24. A load that is being written "
            ~ 'and a query that is running are safe only while they are younger than that. Where nothing loads and nobody '
            ~ 'reads, give force: true (--force). Nothing was dropped.'
        ) %}
    {%- endif -%}
    {%- set dropped = [] -%}
    {%- for ctx in spark_cdc._contexts('vacuum', entities) -%}
        {%- do dropped.extend(spark_cdc._vacuum_entity(ctx, retention_hours)) -%}
    {%- endfor -%}
    {%- do log(
        'vacuum: ' ~ ('dropped ' if execute else 'would drop ') ~ spark_cdc._counted(dropped | length, 'load') ~ ' with '
        ~ spark_cdc._counted(dropped | map(attribute='partitions') | sum, 'partition') ~ ', ' ~ spark_cdc._counted(dropped | map(attribute='files') | sum, 'file') ~ ', '
        ~ spark_cdc._bytes_text(dropped | map(attribute='bytes') | sum) ~ ('' if execute or not dropped else '. Nothing was dropped (execute: false)'),
        info=true
    ) -%}
    {{ return(dropped | length) }}
{%- endmacro -%}


{#- Drops what an entity does not need any more. Arguments: ctx, retention_hours. Returns a
    list of the loads that are dropped, or would be, once for each table: dictionaries with
    partitions, files, bytes. -#}
{%- macro _vacuum_entity(ctx, retention_hours) -%}
    {%- set name = ctx.entity.name -%}
    {%- set ctx = dict(ctx, catalog=spark_cdc._catalog_of(ctx)) -%}
    {%- for identifier in ctx.catalog if spark_cdc._is_set_aside(name, identifier) -%}
        {%- do log(name ~ ': ' ~ identifier ~ ' was set aside when its columns changed; vacuum leaves it. Drop it when nobody '
            ~ 'needs it: drop table ' ~ ctx.schema ~ '.' ~ identifier ~ ' purge', info=true) -%}
    {%- endfor -%}
    {%- if ctx.ledger.identifier not in ctx.catalog -%}
        {%- do log(name ~ ': has no ledger yet', info=true) -%}
        {{ return([]) }}
    {%- endif -%}
    {%- set committed = ctx.catalog.get(ctx.committed.identifier, {}).get('text', '') -%}
    {%- if 'spark_cdc manifest:' not in committed -%}
        {%- do spark_cdc._refuse_vacuum(ctx, 'there is no manifest ' ~ ctx.committed ~ ', so nobody knows which loads count') -%}
    {%- endif -%}
    {%- set load_log = ctx.write.load_log -%}
    {%- do spark_cdc._send(spark_cdc._create_load_log_sql(load_log)) -%}
    {%- if spark_cdc._mode() == 'plan' and not spark_cdc._is_there(load_log) -%}
        {%- do log(name ~ ': there is no ' ~ load_log ~ ' yet, by which the age of loads is told; vacuum creates it', info=true) -%}
        {{ return([]) }}
    {%- endif -%}
    {%- set manifest = spark_cdc._parse_manifest(committed, ctx.committed) -%}
    {%- set ctx = dict(ctx, expired=spark_cdc._expire_undone(
        ctx, spark_cdc._current_timeline(ctx) if manifest.undone else manifest, retention_hours
    )) -%}
    {%- set ctx = dict(ctx, expired_versions=spark_cdc._expire_versions(ctx, retention_hours)) -%}
    {%- set tables = [] -%}
    {#- of a branch what it has written: production's is production's -#}
    {%- for table in [ctx.write.ledger, ctx.write.public, ctx.write.events, ctx.write.input] | unique if ctx.catalog.get(table.identifier, {}).get('location') -%}
        {%- set is_plain = not spark_cdc._table_format(table) -%}
        {%- if is_plain -%}{%- do spark_cdc._find_partitions(table) -%}{%- endif -%}
        {%- do tables.append({
            'table': table,
            'loads': spark_cdc._query(spark_cdc._load_ages_sql(ctx, table)),
            'folders': spark_cdc._staging_folders(table, ctx.catalog[table.identifier].location) if is_plain else [],
        }) -%}
    {%- endfor -%}
    {%- set ctx = dict(ctx, is_fenced=spark_cdc._fence(ctx, tables, retention_hours)) -%}
    {#- what is named is read after the candidates: a load that commits meanwhile is kept -#}
    {%- set counted = spark_cdc._named_loads(ctx) -%}
    {%- set dropped = [] -%}
    {%- for found in tables -%}
        {%- do dropped.extend(spark_cdc._vacuum_table(ctx, found.table, found.loads, counted, retention_hours)) -%}
        {#- Drops such folders. -#}
        {%- set old = found.folders | selectattr('age_hours', 'ge', retention_hours) | list -%}
        {%- if old -%}
            {%- do log(ctx.entity.name ~ ': ' ~ found.table.identifier ~ ': ' ~ ('would drop' if spark_cdc._mode() == 'plan' else 'drops') ~ ' the folders of '
                ~ spark_cdc._counted(old | length, 'insert') ~ ' that broke off (.spark-staging-…), ' ~ spark_cdc._counted(old | map(attribute='files') | map('int') | sum, 'file') ~ ', '
                ~ spark_cdc._bytes_text(old | map(attribute='bytes') | map('int') | sum), info=true) -%}
            {%- for one in old if ctx.is_fenced -%}
                {%- do spark_cdc._drop_folder(found.table, one.folder) -%}
            {%- endfor -%}
        {%- endif -%}
        {%- set kept = spark_cdc._retained_by_snapshots(found.table, ctx.catalog[found.table.identifier].location) -%}
        {%- if kept -%}{%- do log(name ~ ': ' ~ kept, info=true) -%}{%- endif -%}
    {%- endfor -%}
    {%- if dropped and spark_cdc._mode() != 'plan' -%}
        {%- set now = spark_cdc._published(ctx) -%}
        {%- do spark_cdc._write_log(load_log, ctx.entity, [spark_cdc._operation_row(ctx, now, {
            'load_id': (now.loads | last | default('19700101')).split('-')[0] ~ '-v-' ~ spark_cdc._run_id8(),
            'load_type': 'vacuum',
            'status': 'vacuumed',
            'message': 'dropped ' ~ spark_cdc._counted(dropped | map(attribute='files') | sum, 'file') ~ ', ' ~ spark_cdc._bytes_text(dropped | map(attribute='bytes') | sum)
                ~ ', of ' ~ dropped | map(attribute='load_id') | unique | join(', '),
        })]) -%}
    {%- endif -%}
    {{ return(dropped) }}
{%- endmacro -%}


{#- A run that began before may still be on its way to its commit, however old its files are. So
    that it can't commit what is dropped here, the number of its commit is taken first, by a
    commit that changes nothing: it is refused, and loads anew. What begins later is younger than
    all that is dropped. Only where there is something that was never committed. Returns whether
    such loads may be dropped. -#}
{%- macro _fence(ctx, tables, retention_hours) -%}
    {%- if spark_cdc._mode() == 'plan' -%}{{ return(true) }}{%- endif -%}
    {%- set old = [] -%}
    {%- for found in tables -%}
        {%- do old.extend(found.loads | selectattr('replaced_by', 'none') | list + found.folders) -%}
    {%- endfor -%}
    {%- set named = spark_cdc._named_loads(ctx) -%}
    {%- set abandoned = [] -%}
    {%- for one in old if one.age_hours >= retention_hours and one.get('load_id') not in named.named + named.compacted -%}
        {%- do abandoned.append(one) -%}
    {%- endfor -%}
    {%- if not abandoned -%}{{ return(true) }}{%- endif -%}
    {%- set timeline = spark_cdc._current_timeline(ctx) -%}
    {%- if timeline.definition and not spark_cdc._has_columns_of(ctx.entity, timeline.definition) -%}
        {%- do log(ctx.entity.name ~ ': what was never committed is kept, since the columns of stg_' ~ ctx.entity.name
            ~ ' are not those of the last load; load once with them, then vacuum', info=true) -%}
        {{ return(false) }}
    {%- endif -%}
    {%- do spark_cdc._transact(ctx, {'manifest': timeline, 'what': 'a vacuum'}) -%}
    {{ return(true) }}
{%- endmacro -%}


{#- Drops the loads of a table that are old and that nobody names. Arguments: ctx (with
    is_fenced: whether loads that were never committed may go), table, candidates (of
    _load_ages_sql()), counted (of _named_loads()), retention_hours. Returns what goes:
    dictionaries as of _vacuum_entity(). -#}
{%- macro _vacuum_table(ctx, table, candidates, counted, retention_hours) -%}
    {%- set partitions = spark_cdc._partitions_by_load(table) -%}
    {#- views show the rejected rows and the archived events of compacted loads under their own
        names, and a replay reads their input -#}
    {%- set kept = counted.named + (counted.compacted if table in [ctx.write.events, ctx.write.input] else []) -%}
    {%- set young, old = [], [] -%}
    {%- for load in candidates if load.load_id not in kept -%}
        {%- set is_compacted = load.load_id in counted.compacted -%}
        {%- set needless = [] -%}
        {%- for partition in partitions.get(load.load_id, []) if not is_compacted or not partition.endswith('/operation=R') -%}
            {%- do needless.append(partition) -%}
        {%- endfor -%}
        {%- if load.age_hours < retention_hours or not (ctx.is_fenced or load.replaced_by) -%}
            {%- do young.append(load) -%}
        {%- elif needless or not is_compacted -%}
            {%- do old.append(dict(load, needless=needless, partitions=needless | length, files=load.files | int, bytes=load.bytes | int)) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set text -%}
{{ ctx.entity.name }}: {{ table.identifier }}: {{ 'would drop' if spark_cdc._mode() == 'plan' else 'drops' }} {{ spark_cdc._counted(old | length, 'load') -}}
; keeps {{ kept | length }} that count
{%- if young %} and {{ young | length }} that are younger than {{ retention_hours }} h{% endif -%}
{%- for load in old[:50] %}
    {{ load.load_id }}: {{ spark_cdc._counted(load.partitions, 'partition') }}, {{ spark_cdc._counted(load.files, 'file') }}, {# -#}
    {{ spark_cdc._bytes_text(load.bytes) }}, {{ ('undone by ' if '-u-' in load.replaced_by else 'replaced by ') ~ load.replaced_by if load.replaced_by else 'never committed' }} {# -#}
    {{ load.age_hours | int }} h ago
{%- endfor -%}
{%- if old | length > 50 %}
    and {{ old | length - 50 }} more
{%- endif -%}
    {%- endset -%}
    {%- do log(text, info=true) -%}
    {%- for batch in old | map(attribute='needless') | sum(start=[]) | batch(200) -%}
        {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(table, batch)) -%}
    {%- endfor -%}
    {{ return(old) }}
{%- endmacro -%}


{#- Each load that has files in a table, and for how long nobody needs it. -#}
{%- macro _load_ages_sql(ctx, table) -%}
with files as (
    select
        load_id,
        count(*) as files,
        sum(length) as bytes,
        max(written_at) as written_at
    from {{ spark_cdc._files_of_table(table, ctx.catalog[table.identifier].location) }}
    where load_id <> ''
    group by load_id
),

replacing as (
    select
        load_id,
        explode(split(replaced_load_ids, ', ')) as replaced_load_id,
        coalesce(committed_at, {{ 'started_at' if spark_cdc._table_facts(spark_cdc._load_log_format()).lists_files
            else spark_cdc._of_file('modification_time') }}) as replaced_at
    from {{ ctx.write.load_log }}
    where
        entity = {{ spark_cdc._literal(ctx.entity.name) }}
        and replaced_load_ids is not null
),

replaced as (
    select
        replaced_load_id,
        max(replaced_at) as replaced_at,
        max_by(load_id, replaced_at) as replaced_by
    from replacing
    group by replaced_load_id
)

select
    files.load_id,
    files.files,
    files.bytes,
    (unix_micros(current_timestamp()) - unix_micros(greatest(files.written_at, replaced.replaced_at))) / cast(3600000000 as double) as age_hours,
    replaced.replaced_by
from files
left join replaced
    on files.load_id = replaced.replaced_load_id
order by files.load_id
{%- endmacro -%}


{#- Refuses to drop anything of an entity, since nobody can tell what it needs. Arguments:
    ctx, why (text). -#}
{%- macro _refuse_vacuum(ctx, why) -%}
    {%- set message -%}
{{ ctx.entity.name }}: {{ why }}. Nothing of this entity was dropped. Run spark-cdc verify --select {# -#}
{{ ctx.entity.name }}, which says how to repair it, or leave the entity out.
    {%- endset -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}


{#- What inserts that were killed left in a table's folder: Spark writes into .spark-staging-<id>
    there, and moves the files when all are written. No table has them as partitions, and readers
    skip names that begin with a dot or _ unless they are asked for by name. A folder without a file
    is not among them: its age can't be told, and it holds nothing.
    Arguments: table, location. Returns dictionaries: folder, files, bytes, age_hours (of the
    newest file). -#}
{%- macro _staging_folders(table, location) -%}
    {%- set pattern = location ~ '/.spark-staging-*' -%}
    {%- if spark_cdc._lacks_path(pattern) -%}{{ return([]) }}{%- endif -%}
    {%- set view = 'spark_cdc_staging_' ~ table.identifier -%}
    {%- do spark_cdc._send(spark_cdc._reader_view_sql('temporary view ' ~ view, 'binaryFile', [
        'path ' ~ spark_cdc._literal(pattern ~ '{,/_temporary/*/task*,/_temporary/*/_temporary/*}'), "recursiveFileLookup 'true'"])) -%}
    {%- set sql -%}
select
    regexp_extract(path, '^(.*/[.]spark-staging-[^/]+)/', 1) as folder,
    count(*) as files,
    sum(length) as bytes,
    (unix_micros(current_timestamp()) - unix_micros(max(modificationTime))) / cast(3600000000 as double) as age_hours
from {{ view }}
group by folder
order by folder
    {%- endset -%}
    {{ return(spark_cdc._query(sql)) }}
{%- endmacro -%}


{#- What lies in the folder of a table of Delta or Iceberg beyond its files: of loads that were
    dropped and that snapshots still keep, or of writes that broke off. Returns a text that says
    how to be rid of it, an empty one where there is nothing. -#}
{%- macro _retained_by_snapshots(table, location) -%}
    {%- set format = spark_cdc._table_format(table) -%}
    {%- if format is none or not spark_cdc._platform().has_folders -%}{{ return('') }}{%- endif -%}
    {%- set sql -%}
select
    count(*) as files,
    sum(length) as bytes
from {{ spark_cdc._list_files(location) }} as stored
left anti join {{ spark_cdc._files_of_table(table, location) }} as counted
    on {{ spark_cdc._path_in_table('stored.path') }} = {{ spark_cdc._path_in_table('counted.path') }}
where stored.load_id <> ''
    {%- endset -%}
    {%- set found = spark_cdc._query(sql)[0] -%}
    {%- if not found.files | int -%}{{ return('') }}{%- endif -%}
    {{ return(
        table.identifier ~ ': the snapshots of ' ~ format ~ ', or writes that broke off, still hold ' ~ spark_cdc._counted(found.files | int, 'file') ~ ', '
        ~ spark_cdc._bytes_text(found.bytes | int) ~ ', in ' ~ location ~ '. What frees them: ' ~ spark_cdc._table_facts(format).frees.replace('%s', table.schema ~ '.' ~ table.identifier)
    ) }}
{%- endmacro -%}


{#- Loads that were undone so long ago that redo is no longer to bring them back. The manifest
    expires them, by a commit, before they are dropped: a redo at the same time is either before
    it, or refused. Arguments: ctx, manifest, retention_hours. Returns the loads. -#}
{%- macro _expire_undone(ctx, manifest, retention_hours) -%}
    {%- set kept, expired = [], [] -%}
    {%- if manifest.definition and not spark_cdc._has_columns_of(ctx.entity, manifest.definition) -%}
        {#- the new text of <entity>_committed would have the columns that the YAML declares #}
        {{ return([]) }}
    {%- endif -%}
    {%- for step in manifest.undone -%}
        {%- set age = modules.datetime.datetime.now(modules.pytz.utc).replace(tzinfo=none)
            - modules.datetime.datetime.strptime(step.at, '%Y-%m-%d %H:%M:%S') -%}
        {%- set is_young = age.total_seconds() < retention_hours * 3600 -%}
        {%- do kept.append(step) if is_young else expired.extend(step.entries | map(attribute='load_id')) -%}
    {%- endfor -%}
    {%- if expired and spark_cdc._mode() != 'plan' -%}
        {%- set text = spark_cdc._counted(expired | length, 'load') ~ ' (' ~ expired | join(', ') ~ ')' -%}
        {%- do spark_cdc._transact(ctx, {
            'manifest': dict(manifest, undone=kept), 'before': manifest, 'what': 'a vacuum of loads that were undone',
            'say': ctx.entity.name ~ ': redo can no longer bring back ' ~ text,
        }) -%}
    {%- endif -%}
    {{ return(expired) }}
{%- endmacro -%}


{#- What was kept for change feeds so long ago that no consumer is to ask for it any more. It
    goes before its loads do, so that changes() refuses what it can't tell. Arguments: ctx
    (with catalog), retention_hours. Returns the names of the views that go. -#}
{%- macro _expire_versions(ctx, retention_hours) -%}
    {%- set expired = [] -%}
    {%- set now = modules.datetime.datetime.now(modules.pytz.utc).replace(tzinfo=none) -%}
    {%- for identifier, found in ctx.catalog.items() if found.get('kept_at') -%}
        {%- set age = now - modules.datetime.datetime.strptime(found.kept_at, '%Y-%m-%d %H:%M:%S') -%}
        {%- if age.total_seconds() >= retention_hours * 3600 -%}
            {%- do expired.append(identifier) -%}
            {%- do spark_cdc._drop_view(spark_cdc._relation_in(ctx.schema ~ '_commits', identifier)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(expired) }}
{%- endmacro -%}


{#- The files that a table has by now, as a query in brackets that the caller reads once: path,
    length, written_at, load_id. Of plain files these are all that lie in its folder. A table
    format tells which of them count: Delta by its rows, of which no column is read, Iceberg by
    its list. A file whose snapshot is no longer known to Iceberg is older than those that are.
    Arguments: table, location (its folder), name (as of _list_files()). -#}
{%- macro _files_of_table(table, location, name='spark_cdc_files') -%}
    {%- set format = spark_cdc._table_format(table) -%}
    {%- if format is none -%}{{ return(spark_cdc._list_files(location, name)) }}{%- endif -%}
    {%- set sql -%}
        {%- if not spark_cdc._table_facts(format).lists_files -%}
select distinct
    {{ spark_cdc._of_file('path') }} as path,
    {{ spark_cdc._of_file('size') }} as length,
    {{ spark_cdc._of_file('modification_time') }} as written_at,
    load_id
from {{ table }}
        {%- else -%}
select
    entries.data_file.file_path as path,
    entries.data_file.file_size_in_bytes as length,
    coalesce(snapshots.committed_at, (select min(committed_at) from {{ table }}.snapshots)) as written_at,
    entries.data_file.partition.load_id
from {{ table }}.entries
left join {{ table }}.snapshots
    on entries.snapshot_id = snapshots.snapshot_id
where entries.status < 2
        {%- endif -%}
    {%- endset -%}
    {{ return('(\n    ' ~ sql | indent(4) ~ '\n)') }}
{%- endmacro -%}


{#- The files of a table, as a temporary view that the caller reads once: path, length,
    written_at, and load_id and operation as the path names them. Folders without a partition are
    found too; no file is opened. Arguments: location, name (of the view: nodes may share a
    session). -#}
{%- macro _list_files(location, name='spark_cdc_files') -%}
    {%- set view = spark_cdc._view_of_test(name) -%}
    {%- do spark_cdc._send(spark_cdc._reader_view_sql(view.created, 'binaryFile', ['path ' ~ spark_cdc._literal(location), "recursiveFileLookup 'true'"])) -%}
    {{ return(
        "(select path, length, modificationTime as written_at, regexp_extract(path, '/load_id=([^/]+)/', 1) as load_id, "
        ~ "regexp_extract(path, '/operation=([^/]+)/', 1) as operation from " ~ view.name ~ ")"
    ) }}
{%- endmacro -%}


{#- What of a file's path tells it from others of its table. -#}
{%- macro _path_in_table(path) -%}regexp_extract({{ path }}, '(business_date=[^/]+/.*)$', 1){%- endmacro -%}


{#- Bytes for people. -#}
{%- macro _bytes_text(bytes) -%}
    {%- for unit, size in [('GB', 1000000000), ('MB', 1000000), ('kB', 1000)] if bytes >= size -%}
        {{ return('%.1f %s' % (bytes / size, unit)) }}
    {%- endfor -%}
    {{ return(bytes ~ ' bytes') }}
{%- endmacro -%}
