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


{#- The file format of new tables that belong to no entity, and of entities that do not say theirs. -#}
{%- macro _default_file_format() -%}{{ return(var('spark_cdc_file_format', 'parquet')) }}{%- endmacro -%}


{#- What is wrong with the var. Returns a list of texts. -#}
{%- macro _file_format_problems() -%}
    {{ return([] if spark_cdc._default_file_format() in ['parquet', 'orc'] else [
        "the var spark_cdc_file_format is '" ~ spark_cdc._default_file_format() ~ "'; accepted are parquet, orc: choose one of them."
    ]) }}
{%- endmacro -%}


{#- The format is the table's own once it is there: a setting that differs counts for new tables, and the log says so. -#}
{%- macro _note_file_format(entity, table) -%}
    {%- set found = modules.re.search('(?m)^ *Provider: *([a-zA-Z0-9_.]+)', table.information or '') -%}
    {%- if found and found.group(1) | lower != entity.file_format -%}
        {%- do log(entity.name ~ ': ' ~ table ~ ' is there and stays ' ~ found.group(1) | lower ~ '; file_format ' ~ entity.file_format
            ~ ' counts for new tables', info=true) -%}
    {%- endif -%}
{%- endmacro -%}
