{#- Makes messages that lie in a table or in typed files readable, as landed_<entity>. Files may have the columns of several schemas, as the topics of a
    registry do: those of one list of columns are read together and by it, for a column that a file lacks was not sent, and is not null.
    Arguments: entity, landing, time, files (of _input_files(), or none), found (the columns, as Spark finds them), folders
    (of _folder_columns()). Returns none, or why the load is to be refused: {guard, message}. -#}
{%- macro _land_messages(entity, landing, time, files, found, folders) -%}
    {%- set view = spark_cdc._files_view(entity) -%}
    {%- set schemas = spark_cdc._file_schemas(entity, files, found, folders) if files and files.files > 1 else [{'columns': found}] -%}
    {%- set landed, problems = [], [] -%}
    {%- for schema in schemas -%}
        {%- set relation = view ~ ('_' ~ loop.index if schemas | length > 1 else '') -%}
        {%- if schemas | length > 1 -%}
            {%- do spark_cdc._send(spark_cdc._files_view_sql(entity, landing, time, spark_cdc._path_options(entity, time, schema.paths), relation)) -%}
        {%- endif -%}
        {%- do landed.append({'relation': relation, 'columns': schema.columns}) -%}
        {%- for problem in spark_cdc._typed_message_problems(entity, schema.columns) -%}
            {%- do problems.append(problem ~ (', as in ' ~ schema.paths[0] if schemas | length > 1 else '')) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if problems -%}
        {%- set message -%}
{{ entity.name }}: types in {{ spark_cdc._landing_input(entity, landing, time) }} are not what the declared columns say of them.
  {{ problems | join('\n  ') }}
Correct the columns of stg_{{ entity.name }}: see the types of messages from Avro in docs/formats/debezium.md. Nothing was written.
        {%- endset -%}
        {{ return({'guard': 'column_types', 'message': message}) }}
    {%- endif -%}
    {%- do spark_cdc._send(spark_cdc._landed_messages_sql(entity, landed)) -%}
    {{ return(none) }}
{%- endmacro -%}
