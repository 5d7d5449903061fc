{#- A typed column as text that staging reads back as the same value, whatever the session's time zone; where columns
    arrive as text, the text that arrived. Arguments: entity, column (dictionary, or none). Returns an expression. -#}
{%- macro _event_text(entity, column) -%}
    {%- if column is none -%}
        {{ return('cast(null as string)') }}
    {%- elif entity.source.text -%}
        {{ return(spark_cdc._raw(column)) }}
    {%- elif column.data_type == 'binary' -%}
        {%- set function = {'hex': 'hex', 'utf8': 'decode'}.get(column.format, 'base64') -%}
        {{ return(function ~ '(' ~ column.sql ~ (", 'utf-8')" if function == 'decode' else ')')) }}
    {%- elif column.data_type == 'timestamp' -%}
        {{ return("concat(cast(timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, unix_micros(" ~ column.sql
            ~ ") / cast(1000000 as decimal(7, 0))) as string), 'Z')") }}
    {%- endif -%}
    {{ return('cast(' ~ column.sql ~ ' as string)') }}
{%- endmacro -%}
