{#- The declared columns of an entity as _entity() lists them, completed with the defaults. Returns a list of dictionaries. -#}
{%- macro _described_columns(node) -%}
    {%- set columns = [] -%}
    {%- for column in spark_cdc._columns_of(node) -%}{%- do columns.append(spark_cdc._described_column(column)) -%}{%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}
