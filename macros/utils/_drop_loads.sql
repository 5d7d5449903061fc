{#- Drops the partitions of some loads, and no others: another run may be between its two tables. Argument: purge (whether they are not to go into a trash of the
    storage). -#}
{%- macro _drop_loads(table, loads, purge=false) -%}
    {%- set table = spark_cdc._own(table) -%}
    {%- if spark_cdc._table_format(table) -%}
        {{ return(spark_cdc._send('delete from ' ~ table ~ ' where ' ~ spark_cdc._in_loads(loads)) if loads else '') }}
    {%- endif -%}
    {%- set partitions = [] -%}
    {%- for load_id, of_load in spark_cdc._partitions_by_load(table).items() if load_id in loads -%}
        {%- do partitions.extend(of_load) -%}
    {%- endfor -%}
    {%- if partitions -%}
        {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(table, partitions) ~ ('\npurge' if purge else '')) -%}
    {%- endif -%}
{%- endmacro -%}
