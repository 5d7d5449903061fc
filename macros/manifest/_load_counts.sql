{#- What loads wrote, as far as file footers tell, and what some of them say of themselves.
    Arguments: ledger (relation), loads (whose rows are counted), recorded (whose records are read), also (queries to be asked in the same
    statement, or none, with columns as of _input_sql()). Returns a dictionary: rows (load id to operation to number of rows), records (load id
    to record), rules (load id to rule to number of rows that break it, where asked for by _rule_counts_sql()), and also (name to note, of the further queries). -#}
{%- macro _load_counts(ledger, loads, recorded, also=[]) -%}
    {%- set rows, records, rules, further = {}, {}, {}, {} -%}
    {%- set sql = ([spark_cdc._load_counts_sql(ledger, loads, recorded)] + also | select | list) | join('\n\nunion all\n\n') -%}
    {%- for row in spark_cdc._query(sql) -%}
        {%- if row.load_id is none -%}
            {%- do further.update({row.operation: fromjson(row.note)}) -%}
        {%- elif row.operation == 'rules' -%}
            {%- do rules.update({row.load_id: fromjson(row.note)}) -%}
        {%- else -%}
            {%- set of_load = rows.setdefault(row.load_id, {}) -%}
            {%- do of_load.update({row.operation: of_load.get(row.operation, 0) + row.row_count | int}) -%}
            {%- if row.operation == 'L' -%}{%- do records.update({row.load_id: fromjson(row.note)}) -%}{%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return({'rows': rows, 'records': records, 'rules': rules, 'also': further}) }}
{%- endmacro -%}


{%- macro _load_counts_sql(ledger, loads, recorded) -%}
select
    load_id,
    operation,
    count(*) as row_count,
    cast(null as string) as note
from {{ ledger }}
where
    {{ spark_cdc._in_loads(loads) }}
    and operation <> 'L'
group by load_id, operation

union all

select
    load_id,
    operation,
    1 as row_count,
    note
from {{ ledger }}
where {{ spark_cdc._in_loads(recorded) }} and operation = 'L'
{%- endmacro -%}
