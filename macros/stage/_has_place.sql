{#- Whether the order of an entity's events is that of one number, which staging brings as step__place beside event_position: where the events are read
    again for each step of a load, an order of two columns or none is not worth another way. -#}
{%- macro _has_place(entity) -%}
    {%- set events = entity.events -%}
    {{ return(
        spark_cdc._is_landed_by_ledger(entity) and events.format == 'flagged_rows' and entity.key_columns | length > 0
        and not events.tie_breaker and spark_cdc._order_parts(events.order) | length == 1
    ) }}
{%- endmacro -%}
