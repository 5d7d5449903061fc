{#- The write of a load: its rows, and the record of the load itself, which proves that the write was whole.
    Arguments: ledger (relation), columns (of the ledger, in its order), load (its plan, which becomes the record), sql (query of the rows). -#}
{%- macro _write_load_sql(ledger, columns, load, sql) -%}
{{ spark_cdc._write_rows_sql(ledger, columns, ['business_date', 'load_id', 'operation'], sql) }}

union all

select
    {% for column in columns if column.name not in ['business_date', 'load_id', 'operation'] -%}
    {{ spark_cdc._literal(tojson(load)) if column.name == 'note' else 'cast(null as ' ~ column.data_type ~ ')' }} as {{ column.at_sql }},
    {% endfor -%}
    {{ spark_cdc._partition(load) | indent(4) }},
    'L' as operation
{%- endmacro -%}


{#- The same for several loads, whose rows one query has. -#}
{%- macro _write_loads_sql(ledger, columns, loads, sql) -%}
{{ spark_cdc._write_rows_sql(ledger, columns, ['business_date', 'load_id', 'operation'], sql, 'rows_of_loads') }}

union all

select
    {% for column in columns if column.name not in ['business_date', 'load_id', 'operation'] -%}
    {{ 'record' if column.name == 'note' else 'cast(null as ' ~ column.data_type ~ ')' }} as {{ column.at_sql }},
    {% endfor -%}
    business_date,
    load_id,
    'L' as operation
from values
    {%- for load in loads %}
    ({{ spark_cdc._literal(tojson(load)) }}, date'{{ load.business_time[:10] }}', '{{ load.load_id }}'){{ ',' if not loop.last }}
    {%- endfor %}
    as records (record, business_date, load_id)
{%- endmacro -%}
