{#- The columns of what landed as they are read. One of another type than declared whose values are
    all null is read as null (is_null): programs have no type for a column without a value.
    Arguments: entity, files, folders (of _folder_columns()). Returns a dictionary:
        found    of _found_columns()
        schemas  of _file_schemas(); none of a single file, of text and of tables -#}
{%- macro _found_as_read(entity, files, folders) -%}
    {%- set format = entity.source.format -%}
    {%- set is_typed = format not in ['csv', 'json'] and not (entity.events and entity.events.is_message) -%}
    {%- set found = spark_cdc._folder_columns_found(entity, spark_cdc._found_columns(entity), folders) -%}
    {%- set schemas = spark_cdc._file_schemas(entity, files, found, folders) if is_typed and files and files.files > 1 else none -%}
    {%- set others = [] -%}
    {%- for one in found if is_typed and (schemas or []) | length <= 1 -%}
        {%- for column in entity.columns if column.from | lower == one.col_name | lower and not spark_cdc._is_lossless(one.data_type | lower, spark_cdc._is_lossless_type(entity, column)) -%}
            {%- do others.append({'found': one, 'type': spark_cdc._is_lossless_type(entity, column)}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if others -%}
        {%- set counts = [] -%}
        {%- for one in others -%}{%- do counts.append('count(' ~ spark_cdc._quote(one.found.col_name) ~ ') as values_' ~ loop.index) -%}{%- endfor -%}
        {%- set row = spark_cdc._query('select ' ~ counts | join(', ') ~ ' from ' ~ spark_cdc._files_view(entity))[0] -%}
        {%- for one in others -%}
            {%- do one.found.update({'data_type': one.type, 'is_null': true} if row['values_' ~ loop.index] | int == 0 else {}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return({'found': found, 'schemas': schemas}) }}
{%- endmacro -%}
