{#- An expression that turns a value as it came in into a column's declared type: null where that is not possible, in ANSI
    mode and without it, and whatever the session's time zone is.
    Arguments: column (dictionary: data_type, format, encoding), raw (expression of the value), is_text (whether it is text,
    whatever the column's type), timezone (of times whose text names none). -#}
{%- macro _cast(column, raw, is_text, timezone) -%}
{%- set value = spark_cdc._cast_whatever_the_table(column, raw, is_text, timezone) -%}
{%- set misfit = spark_cdc._orc_misfit(spark_cdc._hash_type(column.data_type), '(' ~ value ~ ')') if column.get('in_orc') else '' -%}
{{ 'if(' ~ misfit ~ ', null, ' ~ value ~ ')' if misfit else value }}
{%- endmacro -%}


{#- The same of a value that the ledger's format may not be able to keep. -#}
{%- macro _cast_whatever_the_table(column, raw, is_text, timezone) -%}
{%- set type = column.data_type -%}
{%- set raw = spark_cdc._number_text(column.numbers, raw) if is_text and column.get('numbers') else raw -%}
{%- if column.get('century') and is_text -%}
{{ spark_cdc._cast_whatever_the_table(dict(column, century=none, format=none), spark_cdc._century_text(column, raw), true, timezone) }}
{%- elif column.get('encoding') -%}
{{ spark_cdc._cast_encoded(raw, type, column.encoding) }}
{%- elif not is_text -%}
try_cast({{ raw }} as {{ type }})
{%- elif type == 'string' -%}
{{ raw }}
{%- elif type == 'binary' -%}
try_to_binary({{ raw }}, '{{ 'utf-8' if column.format == 'utf8' else column.format or 'base64' }}')
{%- elif modules.re.match('(array|struct|map)', type) -%}
{{ spark_cdc._nested_value(spark_cdc._hash_type(type), raw, timezone) }}
{%- elif type == 'date' and column.format -%}
cast(try_to_timestamp({{ raw }}, {{ spark_cdc._literal(column.format) }}) as date)
{%- elif type == 'timestamp' -%}
{{ spark_cdc._cast_instant(raw, column.format, timezone) }}
{%- elif type == 'timestamp_ntz' and column.format -%}
timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, {# -#}
unix_micros({{ spark_cdc._cast_instant(raw, column.format, 'UTC') }}) / cast(1000000 as decimal(7, 0)))
{%- else -%}
try_cast({{ raw }} as {{ type }})
{%- endif -%}
{%- endmacro -%}
