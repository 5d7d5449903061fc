{#- Storage as files_match_manifest reads it, whatever is damaged there. Of plain files: all by their names, also those of folders that are no partition;
    the same opened, those left out that can't be; and what the metastore has registered. Table formats know which files they need: what
    is missing of them is found here.
    Returns a dictionary: table (the ledger; in a branch what it has written itself), findings (see _verified_list()), opened (where the records of loads are read: note,
    business_date, load_id, operation), records (where the records of all loads are), and of plain files listed (see _list_files()) and partitions (texts, see
    _partitions_by_load()). -#}
{%- macro _verified_files(verified) -%}
    {%- set table = spark_cdc._own(verified.ledger) -%}
    {%- set found = verified.catalog[table.identifier] -%}
    {%- set format = spark_cdc._table_format(table) -%}
    {%- if format -%}
        {%- do spark_cdc._read_despite_damage() -%}
        {{ return({
            'findings': (spark_cdc._verified_delta_files if format == 'delta' else spark_cdc._verified_iceberg_files)(dict(verified, ledger=table), found.location),
            'opened': verified.ledger,
            'records': verified.ledger,
            'table': table,
            'listed': none,
        }) }}
    {%- endif -%}
    {%- set partitions = spark_cdc._partitions_by_load(verified.ledger).items() | selectattr(0, 'in', verified.loads) | map(attribute=1) -%}
    {%- set opened = 'spark_cdc_opened_' ~ verified.entity.name -%}
    {%- set view_sql -%}
create or replace temporary view {{ opened }} (note string, business_date date, load_id string, operation string)
using {{ found.provider }}
options (path {{ spark_cdc._literal(found.location) }}, ignoreCorruptFiles 'true', ignoreMissingFiles 'true')
    {%- endset -%}
    {%- do spark_cdc._send(view_sql) -%}
    {{ return({
        'findings': [],
        'listed': spark_cdc._list_files(found.location, 'spark_cdc_files_' ~ verified.entity.name),
        'opened': opened,
        'records': opened if table == verified.ledger else verified.ledger,
        'table': table,
        'partitions': partitions | sum(start=[]),
    }) }}
{%- endmacro -%}


{#- Delta says how many files its table has, and not which. -#}
{%- macro _verified_delta_files(verified, location) -%}
    {%- set wanted = spark_cdc._query('describe detail ' ~ verified.ledger)[0].numFiles | int -%}
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
