{#- The files that a load reads. Spark's binaryFile reader lists them, as every reader finds them, and opens none.
    Arguments: entity, time (datetime of the business date), found (of _found_by_pattern(), if it was asked). Returns a dictionary: files
    (how many), bytes, digest (of paths, bytes and times), paths. -#}
{%- macro _input_files(entity, time, found=none) -%}
    {%- if (not found.is_there if found else spark_cdc._is_no_folder(entity, time)) -%}
        {{ return({'files': 0, 'bytes': 0, 'digest': none, 'paths': []}) }}
    {%- endif -%}
    {%- set row = spark_cdc._query(spark_cdc._input_files_sql(entity, time))[0] -%}
    {{ return({'files': row.files | int, 'bytes': row.bytes | int, 'digest': row.digest, 'paths': fromjson(row.paths)}) }}
{%- endmacro -%}


{%- macro _input_files_sql(entity, time) -%}
select
    {{ spark_cdc._input_files_figures_sql() | indent(4) }}
from {{ spark_cdc._direct_sql(entity, time, 'binaryFile') }}
{%- endmacro -%}


{%- macro _input_files_figures_sql() -%}
count(*) as files,
coalesce(sum(length), 0) as bytes,
md5(array_join(sort_array(collect_list(concat_ws('\t', path, length, unix_micros(modificationTime)))), '\n')) as digest,
to_json(sort_array(collect_list(path))) as paths
{%- endmacro -%}


{#- What the record of a load notes of the files that it read; and skipped, what it left out by its name; none
    where it read none. Argument: files (of _input_files(), or none). -#}
{%- macro _input_files_noted(files) -%}
    {%- set skipped = {'skipped': files.skipped} if files and files.get('skipped') else {} -%}
    {{ return(dict({'files': files.files, 'bytes': files.bytes, 'digest': files.digest}, **skipped) if files else none) }}
{%- endmacro -%}
