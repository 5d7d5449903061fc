{%- macro _all_counts_sql(ledger, loads) -%}
select
    load_id,
    operation,
    count(*) as row_count,
    max(if(operation = 'L', note, null)) as note
from {{ ledger }}
where {{ spark_cdc._in_loads(loads) }}
group by load_id, operation
{%- endmacro -%}
