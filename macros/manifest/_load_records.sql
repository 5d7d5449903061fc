{#- What loads say of themselves in the ledger (their L rows): a dictionary by load id. -#}
{%- macro _load_records(ledger, loads) -%}
    {%- set sql -%}
select
    load_id,
    note
from {{ ledger }}
where
    {{ spark_cdc._in_loads(loads) }}
    and operation = 'L'
    {%- endset -%}
    {%- set records = {} -%}
    {%- for row in (spark_cdc._query(sql) if loads else []) -%}{%- do records.update({row.load_id: fromjson(row.note)}) -%}{%- endfor -%}
    {{ return(records) }}
{%- endmacro -%}
