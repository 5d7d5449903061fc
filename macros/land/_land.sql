{#- Makes a business date's data readable in this session as the temporary view landed_<entity>: the columns as
    the source names them, and `landing_problem`, which says what is wrong with a row as a whole. The names of the
    columns are compared with the declared ones first; what is missing or unexpected is an error, unless the
    entity says otherwise.
    Arguments: entity (dictionary of _entity()), landing (the dbt source, read where format is table), time
    (datetime of the business date). Returns nothing. -#}
{%- macro _land(entity, landing, time) -%}
    {%- set format = entity.source.format -%}
    {%- set input = spark_cdc._landing_input(entity, landing, time) -%}
    {%- do log(entity.name ~ ': reading ' ~ input ~ '; if that is not there, land it or correct source.path of stg_'
        ~ entity.name, info=true) -%}
    {%- if format == 'table' -%}
        {%- do run_query(spark_cdc._table_view_sql(entity, landing, time)) -%}
    {%- else -%}
        {%- do run_query(spark_cdc._files_view_sql(entity, time)) -%}
    {%- endif -%}

    {%- if entity.events and entity.events.is_message -%}
        {%- do run_query(spark_cdc._messages_view_sql(entity)) -%}
        {%- do spark_cdc._check_event_columns(entity, input) -%}
        {{ return('') }}
    {%- endif -%}
    {%- if format == 'json' -%}
        {%- set found = spark_cdc._json_columns(entity) -%}
    {%- else -%}
        {%- set found = spark_cdc._query('describe ' ~ spark_cdc._files_view(entity)) -%}
    {%- endif -%}
    {%- set found = found | rejectattr('col_name', 'equalto', entity.source.date_column)
            | rejectattr('col_name', 'equalto', '') | list -%}
    {%- do spark_cdc._check_columns(entity, input, found) -%}
    {%- do run_query(spark_cdc._landed_view_sql(entity, time, found)) -%}
    {%- if entity.events and format == 'json' -%}
        {%- do spark_cdc._check_event_columns(entity, input) -%}
    {%- endif -%}
{%- endmacro -%}


{#- The names in the first rows of JSON lines; further on, an unexpected one is a problem of its row. -#}
{%- macro _json_columns(entity) -%}
    {{ return(spark_cdc._query(
        "select distinct explode(map_keys(from_json(value, 'map<string, string>'))) as col_name, 'string' as data_type"
        ~ " from (select value from " ~ spark_cdc._files_view(entity) ~ " limit 1000)"
    )) }}
{%- endmacro -%}
