{#- What lies in the folder of a table of Delta or Iceberg beyond its files: of loads that were dropped and that snapshots still keep, or of writes that broke
    off. Returns a text that says how to be rid of it, an empty one where there is nothing. -#}
{%- macro _kept_by_snapshots(table, location) -%}
    {%- set format = spark_cdc._table_format(table) -%}
    {%- if format is none -%}{{ return('') }}{%- endif -%}
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
    {%- set ways = {
        'delta': 'vacuum ' ~ table ~ ' (files that Delta has not needed for seven days: delta.deletedFileRetentionDuration)',
        'iceberg': "call spark_catalog.system.expire_snapshots('" ~ table.schema ~ '.' ~ table.identifier ~ "') (snapshots that are older than five days), and "
            ~ 'remove_orphan_files for what writes that broke off left',
    } -%}
    {{ return(
        table.identifier ~ ': the snapshots of ' ~ format ~ ', or writes that broke off, still hold ' ~ spark_cdc._counted(found.files | int, 'file') ~ ', '
        ~ spark_cdc._bytes_text(found.bytes | int) ~ ', in ' ~ location ~ '. What frees them: ' ~ ways[format]
    ) }}
{%- endmacro -%}
