{#- A typed column as the time at which an event happened: an instant, whatever the session's time zone. What names no
    zone is in the entity's. Arguments: entity, column (dictionary, or none). Returns an expression. -#}
{%- macro _event_instant(entity, column) -%}
{%- if column is none -%}
cast(null as timestamp)
{%- elif column.data_type == 'timestamp' -%}
{{ column.sql }}
{%- elif column.data_type == 'string' -%}
{{ spark_cdc._cast_instant(column.sql, none, entity.timezone) }}
{%- elif entity.timezone == 'UTC' -%}
{{ spark_cdc._event_clock_time(column) }}
{%- else -%}
to_utc_timestamp({{ spark_cdc._event_clock_time(column) }}, {{ spark_cdc._literal(entity.timezone) }})
{%- endif -%}
{%- endmacro -%}


{#- A date or a timestamp_ntz as the instant when a clock in UTC shows it. -#}
{%- macro _event_clock_time(column) -%}
timestamp_micros({{ spark_cdc._order_parts([column])[0] }}{{ ' * 86400000000' if column.data_type == 'date' }})
{%- endmacro -%}


{#- What is wrong with a setting that names a column of times. -#}
{%- macro _event_instant_problems(entity, setting) -%}
    {%- set column = spark_cdc._named_column(entity, entity.events.get(setting)) -%}
    {%- if column is none or column.data_type in ['date', 'timestamp', 'timestamp_ntz', 'string'] -%}
        {{ return([]) }}
    {%- endif -%}
    {%- set problem -%}
events.{{ setting }} names '{{ column.name }}', which is {{ column.data_type }}; accepted are timestamp, timestamp_ntz, date and string: {# -#}
declare it as a timestamp, with an encoding if it holds numbers
    {%- endset -%}
    {{ return([problem]) }}
{%- endmacro -%}
