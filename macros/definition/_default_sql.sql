{#- A column's default as an expression of its type. -#}
{%- macro _default_sql(entity, column) -%}
    {%- set text = spark_cdc._literal(column.default | string | lower if column.default is boolean else column.default) -%}
    {%- if spark_cdc._plain_type(column.data_type) == 'timestamp' -%}
        {{ return(spark_cdc._cast_instant(text, none, entity.timezone)) }}
    {%- endif -%}
    {{ return('try_cast(' ~ text ~ ' as ' ~ column.data_type ~ ')') }}
{%- endmacro -%}
