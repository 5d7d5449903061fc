{#- The declared columns of an entity as _entity() lists them, completed with the defaults. Returns a list of dictionaries. -#}
{%- macro _described_columns(node) -%}
    {%- set columns = [] -%}
    {%- for column in spark_cdc._columns_of(node) -%}{%- do columns.append(spark_cdc._described_column(column)) -%}{%- endfor -%}
    {%- if not columns | selectattr('sensitive') | list -%}{{ return(columns) }}{%- endif -%}
    {%- set secret, keyed = spark_cdc._secret(), [] -%}
    {%- for column in columns -%}{%- do keyed.append(dict(column, secret=secret) if column.sensitive else column) -%}{%- endfor -%}
    {{ return(keyed) }}
{%- endmacro -%}
