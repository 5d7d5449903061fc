{#- Writes what _hold_sql() finds, where the load at hand needs it. Each statement gives the same if it is sent twice.
    Arguments: capture, load (its plan), columns (of the ledger, in its order). -#}
{%- macro _hold_rejected(capture, load, columns) -%}
    {%- set held = spark_cdc._held_rows(capture, load) -%}
    {%- if held.sql -%}
        {%- do spark_cdc._send(spark_cdc._write_rows_sql(capture.ledger, columns, ['business_date', 'load_id', 'operation'], held.sql)) -%}
    {%- endif -%}
    {%- if held.drops_deletes -%}
        {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(
            capture.ledger, ['business_date=' ~ load.business_time[:10] ~ '/load_id=' ~ load.load_id ~ '/operation=D'])) -%}
    {%- endif -%}
{%- endmacro -%}
