{#- What a load that is written has read, as it lies there now: rows {load_id, operation, row_count, note} for _load_counts(), of the files and,
    where they are text, of their lines. None where no files are read. -#}
{%- macro _input_sql(entity, time) -%}
{%- if not spark_cdc._reads_files(entity) or spark_cdc._is_archive_replay() -%}
    {{ return(none) }}
{%- endif -%}
{%- set is_no_folder = spark_cdc._is_no_folder(entity, time) -%}
select
    cast(null as string) as load_id,
    'files' as operation,
    0 as row_count,
    {% if is_no_folder -%}
    '{"files": 0, "bytes": 0, "digest": null}' as note
    {%- else -%}
    to_json(struct(files, bytes, digest)) as note
from (
    {{ spark_cdc._input_files_sql(entity, time) | indent(4) }}
)
    {%- endif %}
{#- in UTF-16 and the like a line does not end with the byte of a line break -#}
{%- if not is_no_folder and entity.source.format in ['csv', 'json'] and not spark_cdc._is_wide_encoding(spark_cdc._csv_encoding(entity)) %}

union all

{{ spark_cdc._input_lines_sql(entity, time) }}
{%- endif -%}
{%- endmacro -%}
