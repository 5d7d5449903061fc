{#- Columns as {name, sql, data_type}, each with the name of the physical column that it is written to (at, and at_sql for SQL). The former
    keys of <entity>_events lie beside the keys: former_keys says that old__<name> is one. -#}
{%- macro _placed_columns(columns, layout, former_keys=false) -%}
    {%- set placed = [] -%}
    {%- for column in columns -%}
        {%- set prefix = 'old__' if former_keys and column.name.startswith('old__') else '' -%}
        {%- set at = prefix ~ spark_cdc._place(layout, {'name': column.name.removeprefix(prefix)}).at -%}
        {%- do placed.append({'name': column.name, 'sql': spark_cdc._quote(column.name), 'data_type': column.data_type,
                              'at': at, 'at_sql': spark_cdc._quote(at)}) -%}
    {%- endfor -%}
    {{ return(placed) }}
{%- endmacro -%}
