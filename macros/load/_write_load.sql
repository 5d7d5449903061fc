{%- macro _create_ledger_sql(ledger, columns, file_format) -%}
create table if not exists {{ ledger }} (
    {% for column in columns -%}
    {{ column.at_sql }} {{ column.data_type }}{{ ',' if not loop.last }}
    {% endfor -%}
)
{{ spark_cdc._storage_sql(file_format, ['business_date', 'load_id', 'operation'], ['key_hash', 'nonkey_hash']) }}
{%- endmacro -%}


{#- The write of rows that have the ledger's columns under their declared names. -#}
{%- macro _write_rows_sql(ledger, columns, sql) -%}
insert overwrite table {{ ledger }} partition (business_date, load_id, operation)
select
    {% for column in columns -%}
    {{ spark_cdc._written_sql(column) }}{{ ',' if not loop.last }}
    {% endfor -%}
from (
{{ sql }}
) as rows_of_load
{%- endmacro -%}


{#- The write of a load: its rows, and the record of the load itself, which proves that the write was whole. -#}
{%- macro _write_load_sql(ledger, columns, load, sql) -%}
{{ spark_cdc._write_rows_sql(ledger, columns, sql) }}

union all

select
    {% for column in columns if column.name not in ['business_date', 'load_id', 'operation'] -%}
    {{ spark_cdc._literal(tojson(load)) if column.name == 'note' else 'cast(null as ' ~ column.data_type ~ ')' }} as {{ column.at_sql }},
    {% endfor -%}
    {{ spark_cdc._partition(load) }},
    'L' as operation
{%- endmacro -%}


{#- A column of a load's rows under its physical name; one that is no longer declared is null. -#}
{%- macro _written_sql(column) -%}
    {%- if column.name is none -%}{{ return('cast(null as ' ~ column.data_type ~ ') as ' ~ column.at_sql) }}{%- endif -%}
    {{ return(spark_cdc._aliased(column.sql, column.at_sql)) }}
{%- endmacro -%}
