{#- What loads wrote, as far as file footers tell, and what some of them say of themselves.
    Arguments: ledger (relation), loads (whose rows are counted), recorded (whose records are read), input_sql (of _input_sql(), to be asked
    in the same statement). Returns a dictionary: rows (load id to operation to number of rows), records (load id to record), input (files and
    lines, where they were asked for). -#}
{%- macro _load_counts(ledger, loads, recorded, input_sql=none) -%}
    {%- set rows, records, input = {}, {}, {} -%}
    {%- set sql = spark_cdc._load_counts_sql(ledger, loads, recorded) ~ ('\n\nunion all\n\n' ~ input_sql if input_sql else '') -%}
    {%- for row in spark_cdc._query(sql) -%}
        {%- if row.load_id is none -%}
            {%- do input.update({row.operation: fromjson(row.note)}) -%}
        {%- else -%}
            {%- set of_load = rows.setdefault(row.load_id, {}) -%}
            {%- do of_load.update({row.operation: of_load.get(row.operation, 0) + row.row_count | int}) -%}
            {%- if row.operation == 'L' -%}{%- do records.update({row.load_id: fromjson(row.note)}) -%}{%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return({'rows': rows, 'records': records, 'input': input}) }}
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
