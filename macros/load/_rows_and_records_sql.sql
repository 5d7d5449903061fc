{#- The rows of loads, and the record of each load. Arguments as of _write_loads_sql(). -#}
{%- macro _rows_and_records_sql(columns, loads, sql) -%}
{{ spark_cdc._written_rows_sql(columns, sql, 'rows_of_loads') }}
{%- if loads %}

union all

select
    {%- set values = {'note': 'record', 'business_date': 'business_date', 'load_id': 'load_id', 'operation': "'L'"} -%}
    {%- for column in columns %}
    {{ spark_cdc._aliased(values.get(column.name, 'cast(null as ' ~ column.data_type ~ ')'), column.at_sql) }}{{ ',' if not loop.last }}
    {%- endfor %}
from values
    {%- for load in loads %}
    ({{ spark_cdc._literal(tojson(load)) }}, date'{{ load.business_time[:10] }}', '{{ load.load_id }}'){{ ',' if not loop.last }}
    {%- endfor %}
    as records (record, business_date, load_id)
{%- endif %}
{%- endmacro -%}
