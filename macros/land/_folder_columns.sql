{#- Columns in the names of folders, column=value. Spark would guess their types, and read times in
    the session's zone; without its guess they are text, and are cast as any text is. -#}


{#- Their names, in lower case. Switches the guess off if there are any. -#}
{%- macro _folder_columns(entity, time, files) -%}
    {%- set names = [] -%}
    {%- if files and '=' in files.paths | join -%}
        {%- set wild = modules.re.sub('[{][^{}]*[}]|\\[[^\\]]*\\]|[*?]', '*', spark_cdc._entries_folder(entity, time)) -%}
        {%- set root = modules.re.escape(wild).replace('\\*', '[^/]*') ~ '(?=/|$)' -%}
        {%- for path in files.paths -%}
            {%- for folder in modules.re.split(root, path, maxsplit=1)[-1].split('/')[:-1] if '=' in folder -%}
                {%- do names.append(folder.split('=')[0] | lower) -%}
            {%- endfor -%}
        {%- endfor -%}
    {%- endif -%}
    {%- if names -%}{%- do spark_cdc._send('set spark.sql.sources.partitionColumnTypeInference.enabled = false') -%}{%- endif -%}
    {{ return(names | unique | list) }}
{%- endmacro -%}


{#- The columns found; those of folders have the declared type, and the declared column as folder. -#}
{%- macro _folder_columns_found(entity, found, names) -%}
    {%- if not names or entity.source.text -%}{{ return(found) }}{%- endif -%}
    {%- set marked = [] -%}
    {%- for one in found -%}
        {%- set declared = spark_cdc._folder_columns_declared(entity, one.col_name if one.col_name | lower in names else none) -%}
        {%- do marked.append(dict(one, data_type=declared.data_type, folder=declared) if declared else one) -%}
    {%- endfor -%}
    {{ return(marked) }}
{%- endmacro -%}


{#- The declared column that a folder names; a null in it is judged in staging. -#}
{%- macro _folder_columns_declared(entity, name) -%}
    {%- for column in entity.columns if name is not none and column.from | lower == name | lower -%}
        {{ return(dict(column, nullable=true)) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- A column as the landed view has it. -#}
{%- macro _folder_columns_value(entity, column) -%}
{%- set raw = spark_cdc._quote(column.col_name) -%}
{%- set value = spark_cdc._cast(column.folder, raw, true, entity.timezone) if column.get('folder') else raw -%}
{{ spark_cdc._aliased('cast(null as ' ~ column.data_type ~ ')' if column.get('is_null') else value, raw) }}
{%- endmacro -%}


{#- What is wrong with the folders of a row, as text; null where nothing is. -#}
{%- macro _folder_columns_problem(entity, found) -%}
{%- set cases = [] -%}
{%- for column in found if column.get('folder') -%}
    {%- set raw = spark_cdc._quote(column.col_name) -%}
    {%- set value = spark_cdc._cast(column.folder, raw, true, entity.timezone) -%}
    {%- set condition = spark_cdc._reject_condition(column.folder, raw, '(' ~ value ~ ')', true, entity) -%}
    {%- set message = ", which the folder is named for, is not accepted as " ~ column.data_type -%}
    {%- do cases.append('when ' ~ condition ~ '\n            then concat(' ~ spark_cdc._literal(column.col_name ~ ': ') ~ ', ' ~ spark_cdc._shown(raw) ~ ', '
        ~ spark_cdc._literal(message) ~ ')') if condition -%}
{%- endfor -%}
{{ 'case\n        ' ~ cases | join('\n        ') ~ '\n    end' if cases else 'cast(null as string)' }}
{%- endmacro -%}


{#- Refuses files that have a folder's column with other values: Spark would read the folder's, and
    of CSV neither. Returns none, or {guard, message}. -#}
{%- macro _check_folder_columns(entity, input, time, names) -%}
    {%- if not names or (entity.source.format == 'csv' and not spark_cdc._csv_has_header(entity)) -%}{{ return(none) }}{%- endif -%}
    {%- set view = spark_cdc._files_view(entity) ~ '_alone' -%}
    {%- do spark_cdc._send(spark_cdc._files_view_sql(entity, none, time, {'recursiveFileLookup': 'true', 'mergeSchema': 'true'}, view)) -%}
    {%- set path = spark_cdc._folder_columns_decoded('input_file_name()') -%}
    {%- for own in spark_cdc._described('describe ' ~ view) if own.col_name | lower in names and spark_cdc._folder_columns_declared(entity, own.col_name) -%}
        {%- set column = spark_cdc._folder_columns_declared(entity, own.col_name) -%}
        {%- set value = spark_cdc._cast(column, spark_cdc._quote(own.col_name), own.data_type == 'string', entity.timezone) -%}
        {%- set pattern = spark_cdc._literal('(?i)^.*/' ~ spark_cdc._pattern_of(own.col_name) ~ '=([^/]*)/') -%}
        {%- set named = spark_cdc._folder_columns_decoded('regexp_extract(folder__path, ' ~ pattern ~ ', 1)') -%}
        {%- set sql -%}
select min(folder__path) as path
from (
    select
        folder__path,
        {{ value }} as folder__own,
        nullif({{ named }}, '__HIVE_DEFAULT_PARTITION__') as folder__named
    from (
        select
            *,
            {{ path }} as folder__path
        from {{ view }}
    ) as files
) as rows_of_files
where not folder__own <=> {{ spark_cdc._cast(column, 'folder__named', true, entity.timezone) }}
        {%- endset -%}
        {%- set other = 'the header' if entity.source.format == 'csv' else spark_cdc._query(sql)[0].path -%}
        {%- if other -%}
            {%- set message -%}
{{ entity.name }}: {{ own.col_name }} in {{ input }} contradicts itself: it is the name of a folder, and a column of the files{{ ' with other values' if entity.source.format != 'csv' }}, as in {{ other }}. {# -#}
Deliver it once, or give one of them another name. Nothing was written.
            {%- endset -%}
            {{ return({'guard': 'column_types', 'message': message}) }}
        {%- endif -%}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- A path without its escapes; as it is where it has what is none. -#}
{%- macro _folder_columns_decoded(sql) -%}
if({{ sql }} rlike '%(?![0-9A-Fa-f]{2})', {{ sql }}, url_decode(replace({{ sql }}, '+', '%2B')))
{%- endmacro -%}
