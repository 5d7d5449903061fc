{#- What follows the columns in a `create table`: file format and partitions. Hashes are dear and never repeat, so in
    Parquet files the hash columns do without a dictionary; ORC makes none of binary columns. Arguments: file_format,
    partitions (names), hashes (names of hash columns). Returns SQL. -#}
{%- macro _storage_sql(file_format, partitions, hashes=[]) -%}
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


{#- The format is the table's own once it is there: a setting that differs counts for new tables, and the log says so. -#}
{%- macro _note_file_format(entity, table) -%}
    {%- set found = modules.re.search('(?m)^ *Provider: *([a-zA-Z0-9_.]+)', table.information or '') -%}
    {%- if found and found.group(1) | lower != entity.file_format -%}
        {%- do log(entity.name ~ ': ' ~ table ~ ' is there and stays ' ~ found.group(1) | lower ~ '; file_format ' ~ entity.file_format
            ~ ' counts for new tables', info=true) -%}
    {%- endif -%}
{%- endmacro -%}
