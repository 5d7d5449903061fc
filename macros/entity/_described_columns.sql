{#- The declared columns of an entity as _entity() lists them, completed with the defaults. Returns a list of dictionaries. -#}
{%- macro _described_columns(node) -%}
    {%- set rules = spark_cdc._known_settings().column -%}
    {%- set columns = [] -%}
    {%- for column in spark_cdc._columns_of(node) -%}
        {%- do columns.append(spark_cdc._described_column(column['name'], column.get('data_type'), spark_cdc._meta_of(column), rules)) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}
