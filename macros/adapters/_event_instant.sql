{#- A typed column as the time at which an event happened: an instant, whatever the session's time zone. What names no
    zone is in the entity's. Arguments: entity, column (dictionary, or none). Returns an expression. -#}
{%- macro _event_instant(entity, column) -%}
    {%- if column is none -%}
        {{ return('cast(null as timestamp)') }}
    {%- elif column.data_type == 'timestamp' -%}
        {{ return(column.sql) }}
    {%- elif column.data_type == 'string' -%}
        {{ return(spark_cdc._cast_instant(column.sql, none, entity.timezone)) }}
    {%- endif -%}
    {%- set micros = spark_cdc._order_parts([column])[0] ~ (' * 86400000000' if column.data_type == 'date' else '') -%}
    {%- set utc = 'timestamp_micros(' ~ micros ~ ')' -%}
    {{ return(utc if entity.timezone == 'UTC' else 'to_utc_timestamp(' ~ utc ~ ', ' ~ spark_cdc._literal(entity.timezone) ~ ')') }}
{%- endmacro -%}


{#- What is wrong with a setting that names a column of times. -#}
{%- macro _event_instant_problems(entity, setting) -%}
    {%- set column = spark_cdc._named_column(entity, entity.events.get(setting)) -%}
    {%- if column is not none and column.data_type not in ['date', 'timestamp', 'timestamp_ntz', 'string'] -%}
        {{ return(['events.' ~ setting ~ " names '" ~ column.name ~ "', which is " ~ column.data_type ~ '; accepted are timestamp, '
            ~ 'timestamp_ntz, date and string: declare it as a timestamp, with an encoding if it holds numbers']) }}
    {%- endif -%}
    {{ return([]) }}
{%- endmacro -%}
