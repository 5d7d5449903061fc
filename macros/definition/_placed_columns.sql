{#- Columns, each with the name of the physical column that it is written to (at, and at_sql for SQL). The former keys of <entity>_events
    lie beside the keys: former_keys says that old__<name> is one. -#}
{%- macro _placed_columns(columns, layout, former_keys=false) -%}
    {%- set placed = [] -%}
    {%- for column in columns -%}
        {%- set name = column.name[5:] if former_keys and column.name.startswith('old__') else column.name -%}
        {%- set at = column.name[:column.name | length - name | length] ~ spark_cdc._place(layout, {'name': name}).at -%}
        {%- do placed.append(dict(column, at=at, at_sql=spark_cdc._quote(at))) -%}
    {%- endfor -%}
    {{ return(placed) }}
{%- endmacro -%}
