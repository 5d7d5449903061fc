{#- What `describe` says of a relation or a query, as rows {col_name, data_type}. Spark leaves out what a struct has beyond 25 fields, unless it is told
    not to, which is once in a session and only where that is so. -#}
{%- macro _described(sql) -%}
    {%- set rows = spark_cdc._query(sql) -%}
    {%- if ' more fields' in rows | map(attribute='data_type') | join(' ') -%}
        {%- do spark_cdc._send('set spark.sql.debug.maxToStringFields = 100000') -%}
        {{ return(spark_cdc._query(sql)) }}
    {%- endif -%}
    {{ return(rows) }}
{%- endmacro -%}
