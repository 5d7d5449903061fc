{#- Drops what an entity does not need any more. Arguments: capture, retention_hours, execute. Returns a list of the loads that are dropped, or
    would be, once for each table: dictionaries with partitions, files, bytes. -#}
{%- macro _vacuum_entity(capture, retention_hours, execute) -%}
    {%- set name = capture.entity.name -%}
    {%- set operated = dict(capture, catalog=spark_cdc._catalog_of(capture)) -%}
    {%- for identifier in operated.catalog if modules.re.fullmatch(name ~ '_(ledger|events)_before_[0-9a-f]+', identifier) -%}
        {%- do log(name ~ ': ' ~ identifier ~ ' was set aside when its columns changed; vacuum leaves it. Drop it when nobody '
            ~ 'needs it: drop table ' ~ operated.schema ~ '.' ~ identifier ~ ' purge', info=true) -%}
    {%- endfor -%}
    {%- if operated.ledger.identifier not in operated.catalog -%}
        {%- do log(name ~ ': has no ledger yet', info=true) -%}
        {{ return([]) }}
    {%- endif -%}
    {%- set committed = operated.catalog.get(operated.committed.identifier, {}).get('text', '') -%}
    {%- if 'spark_cdc manifest:' not in committed -%}
        {%- do spark_cdc._refuse_vacuum(operated, 'there is no manifest ' ~ operated.committed ~ ', so nobody knows which loads count') -%}
    {%- endif -%}
    {%- do spark_cdc._send(spark_cdc._create_load_log_sql(spark_cdc._own(operated.load_log))) -%}
    {%- set manifest = spark_cdc._parse_manifest(committed, operated.committed) -%}
    {%- if execute -%}
        {#- what a crash left out: a superseded load's age is counted from there -#}
        {%- do spark_cdc._record_missing_loads(operated, manifest) -%}
    {%- endif -%}
    {%- set operated = dict(operated, forgotten=spark_cdc._forget_undone(
        operated, spark_cdc._head(operated) if execute and manifest.get('undone') else manifest, retention_hours, execute
    )) -%}
    {%- set operated = dict(operated, forgotten_versions=spark_cdc._forget_versions(operated, retention_hours, execute)) -%}
    {%- set tables = [] -%}
    {#- of a branch what it has written: production's is production's -#}
    {%- for table in [spark_cdc._own(operated.ledger), spark_cdc._own(operated.masked), spark_cdc._own(operated.events)] | unique if operated.catalog.get(table.identifier, {}).get('location') -%}
        {%- set is_plain = not spark_cdc._table_format(table) -%}
        {%- if execute and is_plain -%}
            {%- do spark_cdc._send('alter table ' ~ table ~ ' recover partitions') -%}
        {%- endif -%}
        {%- do tables.append({
            'table': table,
            'loads': spark_cdc._query(spark_cdc._load_ages_sql(operated, table)),
            'folders': spark_cdc._staging_folders(table, operated.catalog[table.identifier].location) if is_plain else [],
        }) -%}
    {%- endfor -%}
    {%- set operated = dict(operated, is_fenced=spark_cdc._fence(operated, tables, retention_hours, execute)) -%}
    {#- what is named is read after the candidates: a load that commits meanwhile is kept -#}
    {%- set counted = spark_cdc._named_loads(operated) -%}
    {%- set dropped = [] -%}
    {%- for found in tables -%}
        {%- do dropped.extend(spark_cdc._vacuum_table(operated, found.table, found.loads, counted, retention_hours, execute)) -%}
        {%- do spark_cdc._drop_staging_folders(operated, found.table, found.folders, retention_hours, execute) -%}
        {%- set kept = spark_cdc._kept_by_snapshots(found.table, operated.catalog[found.table.identifier].location) -%}
        {%- if kept -%}{%- do log(name ~ ': ' ~ kept, info=true) -%}{%- endif -%}
    {%- endfor -%}
    {%- if dropped and execute -%}
        {%- do spark_cdc._record_vacuum(operated, dropped) -%}
    {%- endif -%}
    {{ return(dropped) }}
{%- endmacro -%}


{#- A run that began before may still be on its way to its commit, however old its files are. So that it can't commit what is dropped here, the number of its
    commit is taken first, by a commit that changes nothing: it is refused, and loads anew. What begins later is younger than all that is dropped.
    Only where there is something that was never committed. Returns whether such loads may be dropped. -#}
{%- macro _fence(operated, tables, retention_hours, execute) -%}
    {%- if not execute -%}{{ return(true) }}{%- endif -%}
    {%- set old = [] -%}
    {%- for found in tables -%}
        {%- do old.extend(found.loads | selectattr('replaced_by', 'none') | list + found.folders) -%}
    {%- endfor -%}
    {%- set named = spark_cdc._named_loads(operated) -%}
    {%- set abandoned = [] -%}
    {%- for one in old if one.age_hours >= retention_hours and one.get('load_id') not in named.named + named.squashed -%}
        {%- do abandoned.append(one) -%}
    {%- endfor -%}
    {%- if not abandoned -%}{{ return(true) }}{%- endif -%}
    {%- set head = spark_cdc._head(operated) -%}
    {%- if head.definition and spark_cdc._other_columns_problem(operated.entity, head) -%}
        {%- do log(operated.entity.name ~ ': what was never committed is kept, since the columns of stg_' ~ operated.entity.name
            ~ ' are not those of the last load; load once with them, then vacuum', info=true) -%}
        {{ return(false) }}
    {%- endif -%}
    {%- do spark_cdc._drop_claims(operated, spark_cdc._publish(operated, head, 'a vacuum')) -%}
    {{ return(true) }}
{%- endmacro -%}


{#- Drops the loads of a table that are old and that nobody names. Arguments: operated (with is_fenced: whether loads that were never committed may go),
    table, candidates (of _load_ages_sql()), counted (of _named_loads()), retention_hours, execute. Returns what goes: dictionaries as of
    _vacuum_entity(). -#}
{%- macro _vacuum_table(operated, table, candidates, counted, retention_hours, execute) -%}
    {%- set partitions = spark_cdc._partitions_by_load(table) -%}
    {#- views show the rejected rows and the archived events of squashed loads under their own names -#}
    {%- set kept = counted.named + (counted.squashed if table == spark_cdc._own(operated.events) else []) -%}
    {%- set young, old = [], [] -%}
    {%- for load in candidates if load.load_id not in kept -%}
        {%- set is_squashed = load.load_id in counted.squashed -%}
        {%- set needless = [] -%}
        {%- for partition in partitions.get(load.load_id, []) if not is_squashed or not partition.endswith('/operation=R') -%}
            {%- do needless.append(partition) -%}
        {%- endfor -%}
        {%- if load.age_hours < retention_hours or not (operated.is_fenced or load.replaced_by) -%}
            {%- do young.append(load) -%}
        {%- elif needless or not is_squashed -%}
            {%- do old.append(dict(load, needless=needless, partitions=needless | length, files=load.files | int, bytes=load.bytes | int)) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do log(spark_cdc._vacuum_text(operated, table, kept, young, old, retention_hours, execute), info=true) -%}
    {%- if execute -%}
        {%- for batch in old | map(attribute='needless') | sum(start=[]) | batch(200) -%}
            {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(table, batch)) -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(old) }}
{%- endmacro -%}


{%- macro _vacuum_text(operated, table, kept, young, old, retention_hours, execute) -%}
{{ operated.entity.name }}: {{ table.identifier }}: {{ 'drops' if execute else 'would drop' }} {{ spark_cdc._counted(old | length, 'load') -}}
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
{%- endmacro -%}


{#- Each load that has files in a table, and for how long nobody needs it. -#}
{%- macro _load_ages_sql(operated, table) -%}
with files as (
    select
        load_id,
        count(*) as files,
        sum(length) as bytes,
        max(written_at) as written_at
    from {{ spark_cdc._files_of_table(table, operated.catalog[table.identifier].location) }}
    where load_id <> ''
    group by load_id
),

replacing as (
    select
        load_id,
        explode(split(replaced_load_ids, ', ')) as replaced_load_id,
        coalesce(committed_at, _metadata.file_modification_time) as replaced_at
    from {{ spark_cdc._own(operated.load_log) }}
    where
        entity = {{ spark_cdc._literal(operated.entity.name) }}
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
