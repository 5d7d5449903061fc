{#- Makes what landed for a load readable; refuses the load where files would not be read, or the columns are not the declared ones.
    Arguments: entity, landing, time, load (its plan, where no model of the entity runs). Returns the files (of _input_files()); none where a table is read. -#}
{%- macro _land_load(entity, landing, time, load=none) -%}
    {%- if time is none and spark_cdc._is_begun_load() -%}  {#- validate() does not see what dbt retry runs -#}
        {%- do exceptions.raise_compiler_error(spark_cdc._business_date_problems([(entity.name, {})]) | join('\n')) -%}
    {%- endif -%}
    {%- set input = spark_cdc._landing_input(entity, landing, time) -%}
    {%- do log(entity.name ~ ': reading ' ~ input, info=load is none) -%}
    {%- if entity.stored | selectattr('format') | list -%}
        {#- Spark 3.5 fails of itself at a text that the parser of Spark 2 would take, and a server may be set so; it has to become a rejected row. -#}
        {%- do spark_cdc._send('set spark.sql.legacy.timeParserPolicy = corrected') -%}
    {%- endif -%}
    {%- set files, refusal = none, none -%}
    {%- if spark_cdc._reads_files(entity) -%}
        {%- set found = spark_cdc._found_by_pattern(entity, time) -%}
        {%- set files = spark_cdc._input_files(entity, time, found) -%}
        {%- set refusal = spark_cdc._check_files(entity, input, time, found, files) or spark_cdc._check_closed(entity, time) -%}
    {%- endif -%}
    {%- set refusal = refusal or spark_cdc._land(entity, landing, time, files) -%}
    {%- if not refusal and entity.events -%}
        {%- set refusal = spark_cdc._check_event_columns(entity, input) -%}
    {%- endif -%}
    {%- if refusal -%}
        {%- do spark_cdc._refuse_load(entity, refusal.guard, refusal.message, load) -%}
    {%- endif -%}
    {{ return(files) }}
{%- endmacro -%}
