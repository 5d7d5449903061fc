{#- Drops the partitions of some loads, and no others: another run may be between its two tables. -#}
{%- macro _drop_loads(table, loads) -%}
    {%- set partitions = [] -%}
    {%- for load_id, of_load in spark_cdc._partitions_by_load(table).items() if load_id in loads -%}
        {%- do partitions.extend(of_load) -%}
    {%- endfor -%}
    {%- if partitions -%}
        {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(table, partitions)) -%}
    {%- endif -%}
{%- endmacro -%}
