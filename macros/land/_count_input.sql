{#- The rows that came in, counted without reading a column: of tables, typed files, and text in which a line need not be a row. -#}
{%- macro _count_input(entity, time) -%}
    {%- set landing = spark_cdc._landing_source(entity) -%}
    {%- set read = spark_cdc._date_column_found(entity, landing) if entity.source.format == 'table' else entity -%}
    {%- do spark_cdc._set_for_reading(entity) -%}
    {%- do spark_cdc._send(spark_cdc._files_view_sql(read, landing, time)) -%}
    {%- set blank_lines = " where trim(value) <> ''" if entity.source.format == 'json' else '' -%}
    {{ return(spark_cdc._query('select count(*) as row_count from ' ~ spark_cdc._files_view(entity) ~ blank_lines)[0].row_count | int) }}
{%- endmacro -%}
