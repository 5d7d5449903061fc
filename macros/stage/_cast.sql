{#- An expression that turns a column as it came in into its declared type: null where that is not possible, in
    ANSI mode and without it, and whatever the session's time zone is. -#}
{%- macro _cast(entity, column) -%}
    {%- set raw = spark_cdc._raw(column) -%}
    {%- set type = column.data_type -%}
    {%- if column.get('encoding') -%}
        {{ return(spark_cdc._cast_encoded(raw, type, column.encoding)) }}
    {%- elif not entity.source.text -%}
        {{ return('try_cast(' ~ raw ~ ' as ' ~ type ~ ')') }}
    {%- elif type == 'string' -%}
        {{ return(raw) }}
    {%- elif type == 'binary' -%}
        {%- set format = column.format or 'base64' -%}
        {{ return("try_to_binary(" ~ raw ~ ", '" ~ ('utf-8' if format == 'utf8' else format) ~ "')") }}
    {%- elif modules.re.match('(array|struct|map)', type) -%}
        {{ return(spark_cdc._parsed_json(column) ~ '.value') }}
    {%- elif type == 'date' and column.format -%}
        {{ return('cast(try_to_timestamp(' ~ raw ~ ', ' ~ spark_cdc._literal(column.format) ~ ') as date)') }}
    {%- elif type == 'timestamp' -%}
        {{ return(spark_cdc._cast_instant(raw, column.format, entity.timezone)) }}
    {%- elif type == 'timestamp_ntz' and column.format -%}
        {{ return("timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, unix_micros("
            ~ spark_cdc._cast_instant(raw, column.format, 'UTC') ~ ") / cast(1000000 as decimal(7, 0)))") }}
    {%- endif -%}
    {{ return('try_cast(' ~ raw ~ ' as ' ~ type ~ ')') }}
{%- endmacro -%}


{#- JSON text of an array, struct or map, parsed as {value, problem}; problem is not null where any part of it does
    not fit the declared type (Spark would put null there and say nothing). -#}
{%- macro _parsed_json(column) -%}
    {{ return("from_json(concat('{\"value\":', " ~ spark_cdc._raw(column) ~ ", '}'), "
        ~ spark_cdc._literal('value ' ~ column.data_type ~ ', problem string')
        ~ ", map('columnNameOfCorruptRecord', 'problem'))") }}
{%- endmacro -%}
