{#- Columns that only give an order, not stored. -#}
{%- macro _event_order_columns(entity) -%}
    {%- set columns = [] -%}
    {%- for column in entity.events.order + entity.events.tie_breaker if column.role == 'control' and column not in columns -%}
        {%- do columns.append(column) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}
