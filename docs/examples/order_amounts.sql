-- What each customer has ordered, kept up to date by sums: a change adds what came and takes away what went. Each run takes
-- the changes since the last version that it has. What a replay, an undo or a rerun of a load takes back arrives as changes, too.
{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['_commit_version'], file_format='parquet') }}

{%- set taken = run_query('select max(_commit_version) from ' ~ this)[0][0] if is_incremental() else none %}

select
    customer,
    sum(if(_change_type in ('insert', 'update_postimage'), 1, -1) * quantity * price) as amount,
    _commit_version
from ({{ spark_cdc.changes('orders', taken) }}) as changes
group by customer, _commit_version
