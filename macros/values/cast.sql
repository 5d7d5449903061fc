{#- An expression that turns a value as it came in into a column's declared type: null where that is
    not possible, in ANSI mode and without it, and whatever the session's time zone is; also where
    the ledger's format may not be able to keep it.
    Arguments: column (dictionary: data_type, format, encoding), raw (expression of the value),
    is_text (whether it is text, whatever the column's type), timezone (of times whose text names
    none). -#}
{%- macro _cast(column, raw, is_text, timezone) -%}
{%- set type = column.data_type -%}
{%- set raw = spark_cdc._number_text(column.numbers, raw) if is_text and column.get('numbers') else raw -%}
{%- set value -%}
{%- if column.get('century') and is_text -%}
{{ spark_cdc._cast(dict(column, century=none, format=none, in_orc=false), spark_cdc._century_text(column, raw), true, timezone) }}
{%- elif column.get('encoding') -%}
{{ spark_cdc._cast_encoded(raw, type, column.encoding) }}
{%- elif not is_text -%}
try_cast({{ raw }} as {{ type }})
{%- elif type == 'string' -%}
{{ raw }}
{%- elif type == 'binary' -%}
{#- digits may stand behind 0x, or \x as PostgreSQL writes it -#}
{%- set digits = 'substr(' ~ raw ~ ', if(left(' ~ raw ~ ", 2) in ('0x', '0X', " ~ spark_cdc._literal('\\x') ~ '), 3, 1))' -%}
try_to_binary({{ digits if column.format == 'hex' else raw }}, '{{ 'utf-8' if column.format == 'utf8' else column.format or 'base64' }}')
{%- elif type.startswith(('array', 'struct', 'map')) -%}
{{ spark_cdc._nested_value(spark_cdc._hash_type(type), raw, timezone) }}
{%- elif type == 'date' and column.format -%}
cast(try_to_timestamp({{ raw }}, {{ spark_cdc._literal(column.format) }}) as date)
{%- elif type == 'timestamp' -%}
{{ spark_cdc._cast_instant(raw, column.format, timezone) }}
{%- elif type == 'timestamp_ntz' and column.format -%}
{{ spark_cdc._wall_clock(spark_cdc._cast_instant(raw, column.format, 'UTC')) }}
{%- else -%}
try_cast({{ raw }} as {{ type }})
{%- endif -%}
{%- endset -%}
{%- set misfit = spark_cdc._orc_misfit(spark_cdc._hash_type(type), '(' ~ value ~ ')') if column.get('in_orc') else '' -%}
{{ 'if(' ~ misfit ~ ', null, ' ~ value ~ ')' if misfit else value }}
{%- endmacro -%}


{#- A value that is encoded: a time as a whole number since 1970-01-01 00:00 UTC, or a decimal as
    base64. Null where it lies outside the years 1 to 9999 or does not fit without a loss. -#}
{%- macro _cast_encoded(raw, type, encoding) -%}
{%- if encoding == 'base64' -%}
{{ spark_cdc._cast_base64_decimal(raw, type) }}
{%- else -%}
{%- set number = 'try_cast(' ~ raw ~ ' as bigint)' -%}
{%- set per_day = {'days': 1, 'seconds': 86400, 'millis': 86400000, 'micros': 86400000000, 'nanos': 86400000000000}[encoding] -%}
{#- 0001-01-01 to 9999-12-31, or as far as a bigint reaches -#}
{%- set lowest = [-719162 * per_day, -9223372036854775807] | max -%}
{%- set highest = [2932897 * per_day - 1, 9223372036854775807] | min -%}
{%- set divisor = per_day if type == 'date' else 1000 if encoding == 'nanos' else 1 -%}
{%- set micros = number ~ {'days': ' * 86400000000', 'seconds': ' * 1000000', 'millis': ' * 1000', 'micros': '', 'nanos': ' div 1000'}[encoding] -%}
{%- set value -%}
{%- if type == 'date' -%}
date_from_unix_date(cast({{ number }}{{ '' if encoding == 'days' else ' div ' ~ per_day }} as int))
{%- elif type == 'timestamp' -%}
timestamp_micros({{ micros }})
{%- else -%}
timestamp_ntz'1970-01-01 00:00:00' + interval '0.000001' second * ({{ micros }})
{%- endif -%}
{%- endset -%}
case when {{ number }} between {{ lowest }}L and {{ highest }}L
{%- if divisor > 1 %} and {{ number }} % {{ divisor }} = 0{% endif %} then {{ value }} end
{%- endif -%}
{%- endmacro -%}


{#- A decimal as Java and Kafka Connect write one: the unscaled number in two's complement, its
    highest byte first, as base64. The scale is the declared type's, or stands beside it:
    {"scale": 2, "value": "MDk="}. Each transform of an array with one element gives a name to
    what is used again: t the base64 text, h the number in hexadecimal digits, u the number as
    text, s the scale beside it. -#}
{%- macro _cast_base64_decimal(raw, type) -%}
{%- set scale = spark_cdc._decimal_digits(type)[1] -%}
{%- set is_object -%}left({{ raw }}, 1) = '{'{%- endset -%}
{%- set text -%}if({{ is_object }}, get_json_object({{ raw }}, '$.value'), {{ raw }}){%- endset -%}
{%- set digits -%}transform(array({{ text }}), t -> hex(try_to_binary(if(length(t) % 4 = 0, t, null), 'base64'))){%- endset -%}
{%- set surplus = 's - ' ~ scale -%}
{%- set fits -%}
s between -38 and 16383 and ({{ surplus }} <= 0 or u = '0' or right(u, {{ surplus }}) = repeat('0', {{ surplus }}))
{%- endset -%}
{%- set scaled -%}
transform(array(from_json({{ raw }}, 'scale int').scale), s -> case when {{ fits }} then try_cast(concat(u, 'E', -s) as {{ type }}) end)[0]
{%- endset -%}
transform(transform({{ digits }}, h -> {{ spark_cdc._unscaled() }}), u -> {# -#}
if({{ is_object }}, {{ scaled }}, try_cast(concat(u, 'E-{{ scale }}') as {{ type }})))[0]
{%- endmacro -%}


{#- The whole number h, in hexadecimal digits of its two's complement, as text. Spark converts 64
    bits at once; up to 128 bits are two halves of p, 32 digits without the sign: of the
    complement, where the number is negative. -#}
{%- macro _unscaled() -%}
{%- set digits = "lpad(if(h >= '8', translate(h, '0123456789ABCDEF', 'FEDCBA9876543210'), h), 32, '0')" -%}
{%- set high = 'cast(conv(left(p, 16), 16, 10) as decimal(20, 0))' -%}
{%- set low = 'cast(conv(right(p, 16), 16, 10) as decimal(20, 0))' -%}
{%- set magnitude -%}
try_add(try_add(try_multiply({{ high }}, 18446744073709551616BD), {{ low }}), if(h >= '8', 1BD, 0BD))
{%- endset -%}
case when length(h) between 2 and 16 then conv(lpad(h, 16, if(h >= '8', 'F', '0')), 16, -10) {# -#}
when length(h) between 17 and 32 then {# -#}
concat(if(h >= '8', '-', ''), transform(array({{ digits }}), p -> cast({{ magnitude }} as string))[0]) end
{%- endmacro -%}


{#- Text to an instant. Text that says no zone of its own is read in the zone given, never in the
    session's. -#}
{%- macro _cast_instant(raw, format, timezone) -%}
{%- set zone = '+00:00' if timezone == 'UTC' else timezone -%}
{%- if format and spark_cdc._names_a_zone(format) -%}
try_to_timestamp({{ raw }}, {{ spark_cdc._literal(format) }})
{%- elif format -%}
{%- set pattern = format ~ (' xxx' if zone[0] in '+-' else ' VV') -%}
try_to_timestamp(concat({{ raw }}, {{ spark_cdc._literal(' ' ~ zone) }}), {{ spark_cdc._literal(pattern) }})
{%- else -%}
{%- set zone = ' ' ~ zone if '/' in zone else zone -%}
try_cast(case when contains({{ raw }}, ':') and {{ spark_cdc._has_zone(raw) }} then {{ raw }} {# -#}
when contains({{ raw }}, ':') then concat(trim({{ raw }}), {{ spark_cdc._literal(zone) }}) {# -#}
else concat(nullif(trim({{ raw }}), ''), {{ spark_cdc._literal(' 00:00:00' ~ zone) }}) end as timestamp)
{%- endif -%}
{%- endmacro -%}


{#- A time whose year has two digits, which Spark puts into 2000 to 2099, as text with the year of
    the hundred that the column names. -#}
{%- macro _century_text(column, raw) -%}
{%- set clock = 'cast(' ~ spark_cdc._wall_clock(spark_cdc._cast_instant(raw, column.format, 'UTC')) ~ ' as string)' -%}
{%- set hundred, first = '%02d' | format(column.century // 100), '%02d' | format(column.century % 100) -%}
concat(if(substr({{ clock }}, 3, 2) >= '{{ first }}', '{{ hundred }}', '{{ '%02d' | format(column.century // 100 + 1) }}'), substr({{ clock }}, 3))
{%- endmacro -%}


{#- Whether a text of a time ends in a zone of its own: a letter or a sign behind the hour. What
    is no zone is no time, either. -#}
{%- macro _has_zone(raw) -%}
(endswith({{ raw }}, 'Z') or {{ raw }} rlike ':[^A-Za-z+-]*[A-Za-z+-]')
{%- endmacro -%}


{#- Whether a column holds numbers that are written as Spark reads them. -#}
{%- macro _is_plain_number(column) -%}
    {{ return(not (column.get('numbers') or column.get('encoding')) and spark_cdc._is_number_type(column.data_type)) }}
{%- endmacro -%}


{#- What to say of a text that is a number, but written as people do, as an expression. -#}
{%- macro _number_hint(raw) -%}
{%- set separators = "., '\u2019\u00a0\u202f_" -%}
{%- set number = '^\\s*[-+]?[0-9][0-9' ~ separators ~ ']*[-+]?\\s*$' -%}
{%- set odd = '[0-9][, \'\u2019\u00a0\u202f_][0-9]|[.].*[.]|[-+]\\s*$' -%}
if(coalesce({{ raw }} rlike {{ spark_cdc._literal(number) }} and {{ raw }} rlike {{ spark_cdc._literal(odd) }}, false), {# -#}
'; if numbers are written so, set decimal, grouping or trailing_sign (docs/values.md)', '')
{%- endmacro -%}


{#- A number in text as Spark reads it, from how people write it; null where it is not written
    so. Digits are grouped by three, or by two before the last three: else 1.5 would be 15.
    Arguments: numbers (of _numbers()), raw (expression). -#}
{%- macro _number_text(numbers, raw) -%}
{%- set alike = {' ': ' \u00a0\u202f', "'": "'\u2019"} -%}
{%- set grouping = alike.get(numbers.grouping, numbers.grouping or '') -%}
{%- set whole = '[0-9]+' ~ ('|[0-9]{1,3}([' ~ grouping ~ '][0-9]{2,3})*[' ~ grouping ~ '][0-9]{3}' if grouping else '') -%}
{%- set point = '[' ~ numbers.decimal ~ ']' -%}
{%- set number = '((' ~ whole ~ ')(' ~ point ~ '[0-9]*)?|' ~ point ~ '[0-9]+)([eE][-+]?[0-9]+)?' -%}
{%- set pattern = '^\\s*([-+]?' ~ number ~ ('|' ~ number ~ '\\s*[-+]' if numbers.trailing_sign else '') ~ ')\\s*$' -%}
{%- set text = 'translate(' ~ raw ~ ', ' ~ spark_cdc._literal(numbers.decimal ~ grouping) ~ ", '.')" -%}
{%- if numbers.trailing_sign -%}
    {%- set text = 'regexp_replace(' ~ text ~ ", '^\\\\s*(.*?)\\\\s*([-+])\\\\s*\\u0024', '\\u00242\\u00241')" -%}
{%- endif -%}
case when {{ raw }} rlike {{ spark_cdc._literal(pattern) }} then {{ text }} when not {{ raw }} rlike '[0-9]' then {{ raw }} end
{%- endmacro -%}


{#- A regular expression for the whole of a text that is taken as a date, timestamp or
    timestamp_ntz; Spark takes more, and makes something else of it: a year alone, a time of
    today, a date with anything behind it, years of more than four digits or before 1, digits
    below the microsecond. -#}
{%- macro _time_pattern(type) -%}
    {%- set day = '(?!0000)[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}' -%}
    {%- set midnight = '(00:00(:00([.]0+)?)?[zZ]?)?' -%}  {#- also no time at all behind the T -#}
    {%- set time = '[0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}([.][0-9]{0,6}0*)?)?' -%}
    {#- Z, an offset, UTC or a region -#}
    {%- set zone = '([zZ]|(UTC|GMT|UT)?[+-][0-9]{1,2}(:?[0-9]{2})?|UTC|GMT|UT|[A-Za-z_]+(/[A-Za-z0-9_+-]+)+)' -%}
    {%- set time = {'date': midnight, 'timestamp': time ~ '( *' ~ zone ~ ')?', 'timestamp_ntz': time}[type] -%}
    {{ return('^\\s*' ~ day ~ '([ T]' ~ time ~ ')?\\s*$') }}
{%- endmacro -%}


{#- The wall clock of a timestamp in UTC. -#}
{%- macro _wall_clock(sql) -%}
timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, unix_micros({{ sql }}) / cast(1000000 as decimal(7, 0)))
{%- endmacro -%}
