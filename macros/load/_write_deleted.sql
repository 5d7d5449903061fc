{#- The second write of a full load that writes what is gone apart (_deletes_apart()): the rows that are gone and the load's record, which tells how many
    unchanged rows the first write marked. The marks are dropped then, but for those of rows that broke a rule: a load without them is as any other. Each statement gives the same if it is
    sent twice. Arguments: capture, load (its plan), columns (of the ledger, in its order). -#}
{%- macro _write_deleted(capture, load, columns) -%}
    {%- set entity, ledger = capture.entity, capture.ledger -%}
    {%- set sql -%}
select
    operation,
    count(*) as row_count
from {{ ledger }}
where load_id = '{{ load.load_id }}'
group by operation
    {%- endset -%}
    {%- set rows = dict.fromkeys('IUNSWR', 0) -%}
    {%- for row in spark_cdc._query(sql) -%}{%- do rows.update({row.operation: row.row_count | int}) -%}{%- endfor -%}
    {%- set run = dict(
        capture, load=load, prior=spark_cdc._laid_out(entity, ledger, load.layout), broadcast=spark_cdc._is_few(entity, load.prior_log_rows)) -%}
    {%- set deleted = spark_cdc._deleted_sql(run, rows.values() | sum, load.prior_rows - rows.U - rows.N - rows.S - rows.W) -%}
    {%- do spark_cdc._send(spark_cdc._write_loads_sql(ledger, columns, [dict(load, unchanged=rows.S + rows.W)], deleted)) -%}
    {%- if rows.S -%}
        {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(
            ledger, ['business_date=' ~ load.business_time[:10] ~ '/load_id=' ~ load.load_id ~ '/operation=S'])) -%}
    {%- endif -%}
{%- endmacro -%}
