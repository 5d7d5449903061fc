{#- Columns that only give an order, not stored. -#}
{%- macro _event_order_columns(entity) -%}
    {%- set columns = entity.events.order + entity.events.tie_breaker -%}
    {{ return(columns | selectattr('role', 'equalto', 'control') | unique(attribute='name') | list) }}
{%- endmacro -%}
