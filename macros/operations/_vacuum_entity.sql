{#- The names of all loads that a text mentions. -#}
{%- macro _loads_in(text) -%}
    {{ return(modules.re.findall('[0-9]{8}(?:T[0-9]{6})?-[a-z]+-[0-9a-f]{8}', text) | unique | list) }}
{%- endmacro -%}


{#- Bytes for people. -#}
{%- macro _bytes_text(bytes) -%}
    {%- for unit, size in [('GB', 1000000000), ('MB', 1000000), ('kB', 1000)] if bytes >= size -%}
        {{ return('%.1f %s' % (bytes / size, unit)) }}
    {%- endfor -%}
    {{ return(bytes ~ ' bytes') }}
{%- endmacro -%}


{%- macro _vacuum_entity(operated, retention_hours, execute) -%}
    {%- set name = operated.entity.name -%}
    {%- set sums = {'loads': 0, 'partitions': 0, 'files': 0, 'bytes': 0} -%}
    {%- for identifier in operated.catalog if modules.re.fullmatch(name ~ '_(ledger|events)_before_[0-9a-f]+', identifier) -%}
        {%- do log(name ~ ': ' ~ identifier ~ ' was set aside when its columns changed; vacuum leaves it. Drop it when nobody '
            ~ 'needs it: drop table ' ~ operated.schema ~ '.' ~ identifier, info=true) -%}
    {%- endfor -%}
    {%- if operated.ledger.identifier not in operated.catalog -%}
        {%- do log(name ~ ': has no ledger yet', info=true) -%}
        {{ return(sums) }}
    {%- endif -%}
    {%- if 'spark_cdc manifest:' not in operated.catalog.get(operated.committed.identifier, {}).get('text', '') -%}
        {%- do spark_cdc._refuse_vacuum(operated, 'there is no manifest ' ~ operated.committed ~ ', so nobody knows which loads count') -%}
    {%- endif -%}
    {%- do run_query(spark_cdc._create_load_log_sql(operated.load_log)) -%}
    {%- if execute -%}
        {%- do spark_cdc._record_all_loads(operated) -%}
    {%- endif -%}

    {%- for table in [operated.ledger, operated.events] if operated.catalog.get(table.identifier, {}).get('location') -%}
        {%- if execute -%}
            {%- do run_query('alter table ' ~ table ~ ' recover partitions') -%}
        {%- endif -%}
        {%- set candidates = spark_cdc._query(spark_cdc._load_ages_sql(operated, table)) -%}
        {%- set partitions = spark_cdc._partitions_by_load(table) -%}
        {#- what is named is read after the candidates: a load that commits meanwhile is kept -#}
        {%- set counted = spark_cdc._named_loads(operated) -%}
        {#- views show the rejected rows and the archived events of squashed loads under their own names -#}
        {%- set kept_whole = counted.named + (counted.squashed if table.identifier == operated.events.identifier else []) -%}
        {%- set kept = namespace(young=0) -%}
        {%- set lines = [] -%}
        {%- set old = [] -%}
        {%- for load in candidates if load.load_id not in kept_whole -%}
            {%- set of_load = [] -%}
            {%- for partition in partitions.get(load.load_id, []) if load.load_id not in counted.squashed or not partition.endswith('/operation=R') -%}
                {%- do of_load.append(partition) -%}
            {%- endfor -%}
            {%- if load.age_hours < retention_hours -%}
                {%- set kept.young = kept.young + 1 -%}
            {%- elif of_load or load.load_id not in counted.squashed -%}
                {%- do old.extend(of_load) -%}
                {%- do sums.update({
                    'loads': sums.loads + 1, 'partitions': sums.partitions + of_load | length,
                    'files': sums.files + load.files | int, 'bytes': sums.bytes + load.bytes | int,
                }) -%}
                {%- do lines.append('    ' ~ load.load_id ~ ': ' ~ spark_cdc._counted(of_load | length, 'partition') ~ ', ' ~ spark_cdc._counted(load.files | int, 'file')
                    ~ ', ' ~ spark_cdc._bytes_text(load.bytes | int) ~ ', ' ~ ('replaced by ' ~ load.replaced_by if load.replaced_by else 'never committed')
                    ~ ' ' ~ (load.age_hours | int) ~ ' h ago') -%}
            {%- endif -%}
        {%- endfor -%}
        {%- do log(
            name ~ ': ' ~ table.identifier ~ ': ' ~ ('drops ' if execute else 'would drop ') ~ spark_cdc._counted(lines | length, 'load') ~ '; keeps '
            ~ (kept_whole | length) ~ ' that count' ~ (' and ' ~ kept.young ~ ' that are younger than ' ~ retention_hours ~ ' h' if kept.young else '')
            ~ ('\n' ~ lines[:50] | join('\n') if lines else '') ~ ('\n    and ' ~ (lines | length - 50) ~ ' more' if lines | length > 50 else ''),
            info=true
        ) -%}
        {%- if execute -%}
            {%- for batch in old | batch(200) -%}
                {%- do run_query(spark_cdc._drop_partitions_sql(table, batch)) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(sums) }}
{%- endmacro -%}


{%- macro _refuse_vacuum(operated, why) -%}
    {% do exceptions.raise_compiler_error(
        operated.entity.name ~ ': ' ~ why ~ ". Nothing of this entity was dropped. Run spark-cdc verify --select "
        ~ operated.entity.name ~ ', which says how to repair it, or leave the entity out.'
    ) %}
{%- endmacro -%}


{#- Adds to cdc_loads what a crash left out, since a superseded load's age is counted from there. -#}
{%- macro _record_all_loads(operated) -%}
    {%- set text = operated.catalog[operated.committed.identifier].text -%}
    {%- do spark_cdc._record_missing_loads(
        operated.load_log, operated.entity, operated.ledger, spark_cdc._parse_manifest(text, operated.committed)) -%}
{%- endmacro -%}


{#- The loads that count, or that somebody is about to make count: all that the entity's manifests name, be they
    committed, claimed or drafted. Returns a dictionary: named, and squashed (what the histories among them stand for). -#}
{%- macro _named_loads(operated) -%}
    {%- set named = [] -%}
    {%- for identifier, found in spark_cdc._catalog_of(operated.schema, operated.entity.name).items()
            if found.type == 'VIEW' and ('spark_cdc manifest' in found.text or modules.re.search('_(committed|commit_.*|replay)$', identifier)) -%}
        {%- do named.extend(spark_cdc._loads_in(found.text)) -%}
    {%- endfor -%}
    {%- set histories = [] -%}
    {%- for load_id in named | unique if spark_cdc._is_history(load_id) -%}{%- do histories.append(load_id) -%}{%- endfor -%}
    {%- set squashed = [] -%}
    {%- if histories -%}
        {%- set records = spark_cdc._load_records(operated.ledger, histories) -%}
        {%- if records | length < histories | length -%}
            {%- do spark_cdc._refuse_vacuum(operated, 'the records of squashed loads are missing (' ~ histories | join(', ') ~ '), which say what to keep') -%}
        {%- endif -%}
        {%- for record in records.values() -%}
            {%- do squashed.extend(record.squashed) -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return({'named': named | unique | list, 'squashed': squashed | unique | list}) }}
{%- endmacro -%}


{#- Each load that has files in a table, and for how long nobody needs it. -#}
{%- macro _load_ages_sql(operated, table) -%}
with files as (
    select
        load_id,
        count(*) as files,
        sum(length) as bytes,
        max(written_at) as written_at
    from {{ spark_cdc._list_files(operated.catalog[table.identifier].location) }}
    where load_id <> ''
    group by load_id
),

replacing as (
    select
        load_id,
        explode(split(replaced_load_ids, ', ')) as replaced_load_id,
        coalesce(committed_at, _metadata.file_modification_time) as replaced_at
    from {{ operated.load_log }}
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
