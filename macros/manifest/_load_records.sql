{#- What loads say of themselves in the ledger (their L rows): a dictionary by load id. -#}
{%- macro _load_records(ledger, loads) -%}
    {%- set records = {} -%}
    {%- for row in spark_cdc._query(spark_cdc._records_sql(ledger, loads)) -%}
        {%- do records.update({row.load_id: fromjson(row.note)}) -%}
    {%- endfor -%}
    {{ return(records) }}
{%- endmacro -%}


{%- macro _records_sql(ledger, loads) -%}
select
    load_id,
    note
from {{ ledger }}
where
    {{ spark_cdc._in_loads(loads) }}
    and operation = 'L'
{%- endmacro -%}
