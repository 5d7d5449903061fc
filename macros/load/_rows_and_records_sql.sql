{#- The rows of loads, and the record of each load. Arguments as of _write_loads_sql(). -#}
{%- macro _rows_and_records_sql(columns, loads, sql) -%}
{{ spark_cdc._written_rows_sql(columns, sql, 'rows_of_loads') }}
{%- if loads %}

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
{%- endif %}
{%- endmacro -%}
