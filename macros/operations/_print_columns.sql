{#- Prints the columns of the tables of a database as a line of JSON behind a marker, for spark-cdc new --from-database: a dictionary per column, named as
    information_schema.columns has them. Views of temporary life are left out. Arguments: database, pattern (as of `show tables like`). -#}
{%- macro _print_columns(database, pattern='*') -%}
    {%- if not adapter.check_schema_exists(target.database, database) -%}
        {%- do exceptions.raise_compiler_error('There is no database ' ~ database ~ '. Nothing was written. Accepted is one that `show databases` lists, alone '
            ~ 'or with a pattern of table names: shop, or shop.ord*. Correct --from-database.') -%}
    {%- endif -%}
    {%- set columns = [] -%}
    {%- set tables = spark_cdc._query('show tables in ' ~ spark_cdc._quote(database) ~ ' like ' ~ spark_cdc._literal(pattern)) -%}
    {%- for table in tables if not table.isTemporary -%}
        {%- set seen = [] -%}
        {#- partition columns come again behind a heading -#}
        {%- for row in spark_cdc._query('describe ' ~ spark_cdc._quote(database) ~ '.' ~ spark_cdc._quote(table.tableName))
                if row.col_name and not row.col_name.startswith('#') and row.col_name not in seen -%}
            {%- do seen.append(row.col_name) -%}
            {%- do columns.append({'table_schema': database, 'table_name': table.tableName, 'column_name': row.col_name, 'data_type': row.data_type}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- do print('spark_cdc columns: ' ~ tojson(columns)) -%}
{%- endmacro -%}
