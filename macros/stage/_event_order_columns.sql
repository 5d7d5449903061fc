{#- Columns that only give an order, not stored. -#}
{%- macro _event_order_columns(entity) -%}
    {{ return((entity.events.order + entity.events.tie_breaker) | selectattr('role', 'equalto', 'control') | unique(attribute='name') | list) }}
{%- endmacro -%}
