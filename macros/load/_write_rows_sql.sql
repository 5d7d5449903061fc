{#- The write of rows into partitions that bear the load's name, which no other attempt has.
    Arguments: table (relation), columns (of the table, in its order: _settled_columns()), partitions (names), sql (query of rows with these
    columns under their declared names), name (of that query). -#}
{%- macro _write_rows_sql(table, columns, partitions, sql, name='rows_of_load') -%}
insert overwrite table {{ table }} partition ({{ partitions | join(', ') }})
select
    {%- for column in columns %}
    {{ spark_cdc._written_sql(column) }}{{ ',' if not loop.last }}
    {%- endfor %}
from (
{{ sql }}
) as {{ name }}
{%- endmacro -%}


{#- A column of a load's rows under its physical name; one that is no longer declared is null. -#}
{%- macro _written_sql(column) -%}
    {%- if column.name is none -%}
        cast(null as {{ column.data_type }}) as {{ column.at_sql }}
    {%- else -%}
        {{ spark_cdc._aliased(column.sql, column.at_sql) }}
    {%- endif -%}
{%- endmacro -%}
