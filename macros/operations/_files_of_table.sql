{#- The files that a table has by now, as a query in brackets that the caller reads once: path, length, written_at, load_id. Of plain files these are all
    that lie in its folder. A table format tells which of them count: Delta by its rows, of which no column is read, Iceberg by its list. A file
    whose snapshot is no longer known to Iceberg is older than those that are. Arguments: table, location (its folder). -#}
{%- macro _files_of_table(table, location) -%}
    {%- set format = spark_cdc._table_format(table) -%}
    {%- if format is none -%}{{ return(spark_cdc._list_files(location)) }}{%- endif -%}
    {{ return('(\n    ' ~ (spark_cdc._delta_files_sql if format == 'delta' else spark_cdc._iceberg_files_sql)(table) | indent(4) ~ '\n)') }}
{%- endmacro -%}


{%- macro _delta_files_sql(table) -%}
select distinct
    _metadata.file_path as path,
    _metadata.file_size as length,
    _metadata.file_modification_time as written_at,
    load_id
from {{ table }}
{%- endmacro -%}


{%- macro _iceberg_files_sql(table) -%}
select
    entries.data_file.file_path as path,
    entries.data_file.file_size_in_bytes as length,
    coalesce(snapshots.committed_at, (select min(committed_at) from {{ table }}.snapshots)) as written_at,
    entries.data_file.partition.load_id
from {{ table }}.entries
left join {{ table }}.snapshots
    on entries.snapshot_id = snapshots.snapshot_id
where entries.status < 2
{%- endmacro -%}
