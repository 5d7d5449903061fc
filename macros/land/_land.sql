{#- Makes a business date's data readable in this session as the temporary view landed_<entity>: the columns as
    the source names them, and `landing_problem`, which says what is wrong with a row as a whole. The names of the
    columns are compared with the declared ones first; what is missing or unexpected is wrong, unless the entity
    says otherwise.
    Arguments: entity (dictionary of _entity()), landing (the dbt source, read where format is table), time
    (datetime of the business date), files (of _input_files()). Returns none, or why the load is to be refused: {guard, message}. -#}
{%- macro _land(entity, landing, time, files) -%}
    {%- set format, is_message = entity.source.format, entity.events and entity.events.is_message -%}
    {%- if files and not files.files or spark_cdc._is_change_feed_empty(entity) -%}
        {%- do spark_cdc._send(spark_cdc._no_rows_view_sql(entity)) -%}
        {{ return(none) }}
    {%- endif -%}
    {%- if format == 'table' -%}
        {%- set entity = spark_cdc._date_column_found(entity, landing) -%}
        {%- set refusal = spark_cdc._check_date_column(entity, landing) -%}
        {%- if refusal -%}{{ return(refusal) }}{%- endif -%}
    {%- endif -%}
    {%- do spark_cdc._set_for_reading(entity) -%}
    {%- if format != 'json' -%}{%- do spark_cdc._folder_columns(entity, time, files) -%}{%- endif -%}
    {%- do spark_cdc._send(spark_cdc._files_view_sql(entity, landing, time)) -%}
    {%- if is_message and format == 'json' -%}
        {%- do spark_cdc._send(spark_cdc._landed_messages_sql(entity)) -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set read = spark_cdc._found_as_read(entity, time, files) -%}
    {%- set found, folders, schemas = read.found, read.folders, read.schemas or [] -%}
    {%- if is_message -%}
        {{ return(spark_cdc._land_messages(entity, landing, time, files, found)) }}
    {%- endif -%}
    {%- set input = spark_cdc._landing_input(entity, landing, time) -%}
    {%- set refusal = spark_cdc._check_columns(entity, input, found) -%}
    {%- if not refusal and schemas | length > 1 -%}
        {%- set refusal = spark_cdc._check_schemas(entity, schemas) -%}
        {%- if not refusal -%}
            {%- do spark_cdc._send(spark_cdc._files_view_sql(entity, landing, time, {'mergeSchema': 'true'})) -%}
            {%- set found = spark_cdc._folder_columns_found(entity, spark_cdc._found_columns(entity), folders) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set refusal = refusal or spark_cdc._check_folder_columns(entity, input, time, folders) -%}
    {%- if refusal -%}
        {{ return(refusal) }}
    {%- endif -%}
    {%- if format == 'csv' and spark_cdc._missing_columns(entity, found) -%}
        {%- do spark_cdc._send(spark_cdc._csv_view_sql(entity, time, found, spark_cdc._files_view(entity))) -%}
    {%- endif -%}
    {%- do spark_cdc._send(spark_cdc._landed_view_sql(entity, time, found)) -%}
    {{ return(none) }}
{%- endmacro -%}
