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
    {%- set folders = spark_cdc._folder_columns(entity, time, files) if format != 'json' else [] -%}
    {%- set ends = spark_cdc._line_ends(entity, time) -%}
    {%- if ends.refusal -%}{{ return(ends.refusal) }}{%- endif -%}
    {%- do spark_cdc._send(spark_cdc._files_view_sql(ends.parts[0], landing, time, view=spark_cdc._files_view(entity))) -%}
    {%- if is_message and format == 'json' -%}
        {%- do spark_cdc._send(spark_cdc._landed_messages_sql(entity)) -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set read = spark_cdc._found_as_read(entity, files, folders) -%}
    {%- set found, schemas = read.found, read.schemas or [] -%}
    {%- if is_message -%}
        {{ return(spark_cdc._land_messages(entity, landing, time, files, found, folders)) }}
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
    {%- for part in ends.parts -%}{%- do spark_cdc._land_columns(part, time, found) -%}{%- endfor -%}
    {%- if ends.parts | length > 1 -%}
        {%- set views = [] -%}
        {%- for part in ends.parts -%}{%- do views.append('select *\nfrom ' ~ spark_cdc._landed_view(part)) -%}{%- endfor -%}
        {%- do spark_cdc._send('create or replace temporary view ' ~ spark_cdc._landed_view(entity) ~ ' as\n' ~ views | join('\n\nunion all\n\n')) -%}
    {%- endif -%}
    {{ return(none) }}
{%- endmacro -%}


{#- Makes the view that staging reads, of files whose columns are known. -#}
{%- macro _land_columns(entity, time, found) -%}
    {%- if entity.source.format == 'csv' and not spark_cdc._csv_is_as_declared(entity, found) -%}
        {%- do spark_cdc._send(spark_cdc._csv_view_sql(entity, time, found, spark_cdc._files_view(entity))) -%}
    {%- endif -%}
    {%- do spark_cdc._send(spark_cdc._landed_view_sql(entity, time, found)) -%}
{%- endmacro -%}
