{#- The table of an entity, or cdc_loads, if it is not there. Its options spare each load a statement: an overwrite replaces only the partitions that
    are written, and Parquet's pages are held against their checksums, which are written in any case
    (https://parquet.apache.org/docs/file-format/data-pages/checksumming). Hashes are dear and never repeat, so in Parquet files the hash columns
    do without a dictionary; ORC makes none of binary columns. What goes with the next load does without any, which takes half
    the time of the write. Iceberg is to write rows as they come, as the others do, without a shuffle and a sort of its own, and not to keep a copy of its list
    of snapshots for each load. Delta is to keep no minimum and maximum of columns in its log: the footers of the files have them, and they take a fifth of
    the write. Arguments: table (relation), columns (dictionaries with at_sql and data_type), file_format, partitions
    (names), hashes (names of hash columns), is_kept (whether the rows stay behind the next load). -#}
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
