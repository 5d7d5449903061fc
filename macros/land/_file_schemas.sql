{#- The columns of typed files, file by file: Spark reads all by the columns of one, so that where a file lacks a column, or has it under another
    name, null stands for what another file has. Told by the footers, which a statement reads for 50 files: it costs what the files cost
    to open, not what their rows cost to read.
    Arguments: entity, files (of _input_files()), found (the columns of all, as Spark reads them), folders (of _folder_columns()). Returns a list with one dictionary per
    list of columns that occurs: paths (of the files with it), columns ({col_name, data_type}). -#}
{%- macro _file_schemas(entity, files, found, folders=[]) -%}
    {%- set schemas = {} -%}
    {%- for paths in files.paths | batch(50) -%}
        {%- set columns = [] -%}
        {%- for row in spark_cdc._described(spark_cdc._describe_files_sql(entity, paths)) -%}
            {%- if row.col_name == '_spark_cdc_file' -%}{%- do columns.append([]) -%}
            {%- else -%}{%- do columns[-1].append({'col_name': row.col_name, 'data_type': row.data_type}) -%}{%- endif -%}
        {%- endfor -%}
        {%- for path in paths -%}
            {#- folders named column=value are columns of their files -#}
            {%- set of_file = [] -%}
            {%- for column in found if column.col_name | lower in folders and '/' ~ column.col_name | lower ~ '=' in path | lower -%}{%- do of_file.append(column) -%}{%- endfor -%}
            {%- for column in columns[loop.index0] if column.col_name | lower not in folders -%}{%- do of_file.append(column) -%}{%- endfor -%}
            {%- set schema = schemas.setdefault(tojson(of_file | sort(attribute='col_name')), {'paths': [], 'columns': of_file}) -%}
            {%- do schema.paths.append(path) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(schemas.values() | list) }}
{%- endmacro -%}


{%- macro _describe_files_sql(entity, paths) -%}
describe query
select
    {%- for path in paths %}
    1 as _spark_cdc_file,
    file_{{ loop.index }}.*{{ ',' if not loop.last }}
    {%- endfor %}
from
    {%- for path in paths %}
    {{ entity.source.format }}.`{{ path.replace('`', '``') }}` as file_{{ loop.index }}{{ ',' if not loop.last }}
    {%- endfor %}
{%- endmacro -%}
