{#- The rows that came in, counted without reading a column: of tables, typed files, and text in which a line need not be a row. -#}
{%- macro _count_input(entity, time) -%}
    {%- set landing = spark_cdc._landing_source(entity) -%}
    {%- set read = spark_cdc._date_column_found(entity, landing) if entity.source.format == 'table' else entity -%}
    {%- do spark_cdc._set_for_reading(entity) -%}
    {%- set blank_lines = " where trim(value) <> ''" if entity.source.format == 'json' else '' -%}
    {%- set counts = [] -%}
    {%- for part in spark_cdc._line_ends(read, time).parts -%}
        {%- do spark_cdc._send(spark_cdc._files_view_sql(part, landing, time)) -%}
        {%- do counts.append('select count(*) as row_count from ' ~ spark_cdc._files_view(part) ~ blank_lines) -%}
    {%- endfor -%}
    {{ return(spark_cdc._query(counts | join(' union all ')) | map(attribute='row_count') | map('int') | sum) }}
{%- endmacro -%}
