{#- The write of rows into partitions that bear the load's name, which no other attempt has.
    Arguments: table (relation), columns (of the table, in its order: _settled_table(); one without a name is no longer declared), partitions
    (names), sql (query of rows with these columns under their declared names), name (of that query). -#}
{%- macro _write_rows_sql(table, columns, partitions, sql, name='rows_of_load') -%}
insert overwrite table {{ spark_cdc._own(table) }} partition ({{ partitions | join(', ') }})
{{ spark_cdc._written_rows_sql(columns, sql, name) }}
{%- endmacro -%}


{#- The rows with the table's columns in its order. -#}
{%- macro _written_rows_sql(columns, sql, name) -%}
select
    {%- for column in columns %}
    {{ spark_cdc._aliased('cast(null as ' ~ column.data_type ~ ')' if column.name is none else column.sql, column.at_sql) }}{{ ',' if not loop.last }}
    {%- endfor %}
from (
{{ sql }}
) as {{ name }}
{%- endmacro -%}
