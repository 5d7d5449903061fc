{#- Whether an event says nothing of a column. -#}
{%- macro _is_missing(column) -%}
{%- set is_absent -%}array_contains(event_absent, {{ spark_cdc._literal(column.name) }}){%- endset -%}
{%- set is_unavailable -%}array_contains(event_unavailable, {{ spark_cdc._literal(column.name) }}){%- endset -%}
coalesce({{ is_absent }} or {{ is_unavailable }}, {{ is_absent }}, {{ is_unavailable }}, false)
{%- endmacro -%}
