{#- A typed column as the time at which an event happened: an instant, whatever the session's time zone. What names no
    zone is in the entity's. Arguments: entity, column (dictionary, or none). Returns an expression. -#}
{%- macro _event_instant(entity, column) -%}
{%- if column is none -%}
cast(null as timestamp)
{%- elif column.data_type == 'timestamp' -%}
{{ column.sql }}
{%- elif column.data_type == 'string' -%}
{{ spark_cdc._cast_instant(column.sql, none, entity.timezone) }}
{%- else -%}
{#- a date or a timestamp_ntz as the instant when a clock in UTC shows it -#}
{%- set clock -%}
timestamp_micros({{ spark_cdc._order_parts([column])[0] }}{{ ' * 86400000000' if column.data_type == 'date' }})
{%- endset -%}
{{ clock if entity.timezone == 'UTC' else 'to_utc_timestamp(%s, %s)' | format(clock, spark_cdc._literal(entity.timezone)) }}
{%- endif -%}
{%- endmacro -%}
