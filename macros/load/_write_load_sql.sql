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
