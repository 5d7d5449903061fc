{#- Writes what _hold_sql() finds, where the load at hand needs it. Each statement gives the same if it is sent twice.
    Arguments: capture, load (its plan), columns (of the ledger, in its order). -#}
{%- macro _hold_rejected(capture, load, columns) -%}
    {%- set entity, ledger = capture.entity, capture.ledger -%}
    {%- if not entity.quarantine or load.load_type != 'full' or load.base is none -%}
        {{ return('') }}
    {%- endif -%}
    {%- set sql -%}
select
    count(*) as rejected,
    count_if(key_hash is null) as unreadable
from {{ ledger }}
where load_id = '{{ load.load_id }}' and operation = 'R'
    {%- endset -%}
    {%- set found = spark_cdc._query(sql)[0] -%}
    {%- if found.rejected | int and load.redefines -%}
        {%- set message -%}
{{ entity.name }}: {{ found.rejected }} rows of {{ load.business_time }} are rejected, and the load is the first with the changed columns {# -#}
of stg_{{ entity.name }}: such a load takes none, also with on_reject: quarantine. Nothing was committed and readers see what they saw {# -#}
before. Correct the data, or load a date without rejected rows under the changed columns first.
        {%- endset -%}
        {%- do spark_cdc._refuse_load(entity, 'failed_casts', message, load) -%}
    {%- endif -%}
    {%- if found.rejected | int -%}
        {%- set held = spark_cdc._hold_sql(
            dict(capture, load=load, prior=spark_cdc._laid_out(entity, ledger, load.layout)), found.unreadable | int > 0) -%}
        {%- do run_query(spark_cdc._write_rows_sql(ledger, columns, ['business_date', 'load_id', 'operation'], held)) -%}
    {%- endif -%}
    {%- if found.unreadable | int -%}
        {%- do run_query(spark_cdc._drop_partitions_sql(
            ledger, ['business_date=' ~ load.business_time[:10] ~ '/load_id=' ~ load.load_id ~ '/operation=D'])) -%}
    {%- endif -%}
{%- endmacro -%}
