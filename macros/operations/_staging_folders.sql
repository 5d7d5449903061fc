{#- What inserts that were killed left in a table's folder: Spark writes into .spark-staging-<id> there, and moves the files when all are written. No table has
    them as partitions, and readers skip names that begin with a dot or _ unless they are asked for by name. A folder without a file is not
    among them: its age can't be told, and it holds nothing.
    Arguments: table, location. Returns dictionaries: folder, files, bytes, age_hours (of the newest file). -#}
{%- macro _staging_folders(table, location) -%}
    {%- set pattern = location ~ '/.spark-staging-*' -%}
    {%- if spark_cdc._lacks_path(pattern) -%}{{ return([]) }}{%- endif -%}
    {%- set view = 'spark_cdc_staging_' ~ table.identifier -%}
    {%- set view_sql -%}
create or replace temporary view {{ view }} using binaryFile options (
    path {{ spark_cdc._literal(pattern ~ '{,/_temporary/*/task*,/_temporary/*/_temporary/*}') }},
    recursiveFileLookup 'true'
)
    {%- endset -%}
    {%- do spark_cdc._send(view_sql) -%}
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


{#- Drops such folders. Arguments: operated, table, folders (of _staging_folders()), retention_hours, execute. -#}
{%- macro _drop_staging_folders(operated, table, folders, retention_hours, execute) -%}
    {%- set old = folders | selectattr('age_hours', 'ge', retention_hours) | list -%}
    {%- if not old -%}{{ return('') }}{%- endif -%}
    {%- do log(operated.entity.name ~ ': ' ~ table.identifier ~ ': ' ~ ('drops' if execute else 'would drop') ~ ' the folders of '
        ~ spark_cdc._counted(old | length, 'insert') ~ ' that broke off (.spark-staging-…), ' ~ spark_cdc._counted(old | map(attribute='files') | map('int') | sum, 'file') ~ ', '
        ~ spark_cdc._bytes_text(old | map(attribute='bytes') | map('int') | sum), info=true) -%}
    {%- for one in old if execute and operated.is_fenced -%}
        {%- do spark_cdc._drop_folder(table, spark_cdc._partition_names(table), one.folder) -%}
    {%- endfor -%}
{%- endmacro -%}
