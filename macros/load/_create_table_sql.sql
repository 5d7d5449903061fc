{#- The table of an entity, or cdc_loads, if it is not there. Hashes are dear and never repeat, so in Parquet files the hash columns do
    without a dictionary; ORC makes none of binary columns. Arguments: table (relation), columns (dictionaries with at_sql and data_type),
    file_format, partitions (names), hashes (names of hash columns). -#}
{%- macro _create_table_sql(table, columns, file_format, partitions, hashes=[]) -%}
create table if not exists {{ table }} (
    {%- for column in columns %}
    {{ column.at_sql }} {{ column.data_type }}{{ ',' if not loop.last }}
    {%- endfor %}
)
using {{ file_format }}
partitioned by ({{ partitions | join(', ') }})
{%- if hashes and file_format == 'parquet' %}
options (
    {%- for name in hashes %}
    `parquet.enable.dictionary#{{ name }}` 'false'{{ ',' if not loop.last }}
    {%- endfor %}
)
{%- endif %}
{%- endmacro -%}
