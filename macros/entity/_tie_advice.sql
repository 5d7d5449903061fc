{#- What to do about different events of a key at one position, in words. -#}
{%- macro _tie_advice(entity) -%}
name a tie_breaker
{{- ', or add to events.order_fields what tells them apart, such as the offset of the topic' if 'order_fields' in spark_cdc._adapter_format(entity.events.format).settings }}
{%- endmacro -%}
