{#- When something of a text is lost or bent in its type, which Spark does in silence: a condition that is never null, or an empty text where
    nothing can be. What is accepted stands in docs/values.md. Arguments: column, raw and value (as _reject_condition() has them), entity. -#}
{%- macro _reject_loss_condition(column, raw, value, entity) -%}
{%- set type = column.data_type -%}
{%- set raw = '(' ~ spark_cdc._number_text(column.numbers, raw) ~ ')' if column.get('numbers') else raw -%}
{%- if column.get('century') -%}
{{ spark_cdc._reject_loss_condition(dict(column, century=none, format=none), spark_cdc._century_text(column, raw), value, entity) }}
{%- elif column.get('encoding') -%}  {#- which has judged that itself -#}
{%- elif type.startswith('decimal') -%}
{{ spark_cdc._reject_loss_of_decimal(raw, spark_cdc._decimal_digits(type)[1]) }}
{%- elif type in ['float', 'double'] -%}
{{ spark_cdc._reject_loss_of_float(raw, value, type) }}
{%- elif type in ['date', 'timestamp', 'timestamp_ntz'] and column.format -%}
{{ spark_cdc._reject_loss_of_formatted_time(column, raw, value, entity.timezone) }}
{%- elif type in ['date', 'timestamp', 'timestamp_ntz'] -%}
{{ value }} is not null and (not {{ spark_cdc._is_plain_time(raw, value, type) }} and not {{ raw }} rlike {# -#}
{{ spark_cdc._literal(spark_cdc._time_pattern(type)) }}
{%- if type == 'timestamp' %} or {{ spark_cdc._is_in_gap(raw, value, entity.timezone) }}{% endif %})
{%- elif type == 'binary' and column.format == 'hex' -%}
{{ value }} is not null and length({{ raw }}) % 2 = 1
{%- elif modules.re.match('(array|struct|map)', type) -%}
{{ spark_cdc._misread_as_one(raw) }} or {{ spark_cdc._nested_loss_condition(spark_cdc._hash_type(type), raw, entity) }}
{%- endif -%}
{%- endmacro -%}


{#- Digits behind the point that are more than the scale, zeros at the end apart. With an exponent their number is that of the digits behind
    the point, minus the exponent, minus the zeros that the number ends with. Only long texts are searched by a regular expression. -#}
{%- macro _reject_loss_of_decimal(raw, scale) -%}
coalesce(if(contains({{ raw }}, 'e') or contains({{ raw }}, 'E'), {{ raw }} rlike '^[^eE]*[1-9]' and {# -#}
length(regexp_extract({{ raw }}, '[.]([0-9]*)[eE]', 1)) - try_cast(regexp_extract({{ raw }}, '[eE](.*)', 1) as bigint) {# -#}
- length(regexp_extract(replace({{ raw }}, '.', ''), '(0*)[eE]', 1)) > {{ scale }}, {# -#}
length(substring_index({{ raw }}, '.', -1)) > {{ scale }} and {{ raw }} rlike '[.][0-9]{{ '{' ~ scale ~ '}' }}[0-9]*[1-9]'), false)
{%- endmacro -%}


{#- A number that becomes infinite or zero, digits that Java's notation adds a letter to (1d, 0x1p3), a whole number below 2^63 that
    becomes another one. Fractions are rounded, as these types do. -#}
{%- macro _reject_loss_of_float(raw, value, type) -%}
coalesce(if(abs({{ value }}) = double('Infinity'), {{ raw }} rlike '[0-9]', {# -#}
{{ value }} = 0 and {{ raw }} rlike '^[^eE]*[1-9]' {# -#}
or (not right({{ raw }}, 1) between '0' and '9' or contains({{ raw }}, 'x') or contains({{ raw }}, 'X')) and {{ raw }} rlike '[dDfFxX]' {# -#}
or abs({{ value }}) between {{ {'float': 16777216, 'double': 9007199254740992}[type] }}D and 9223372036854774784D and {{ raw }} rlike '^\\s*[-+]?[0-9]+([.]0*)?\\s*$' {# -#}
and try_cast({{ raw }} as decimal(38, 0)) <> try_cast({{ value }} as bigint)), false)
{%- endmacro -%}


{#- With a pattern of the user's: digits below the microsecond, a time of day of a date, and an hour that the zone skips. -#}
{%- macro _reject_loss_of_formatted_time(column, raw, value, timezone) -%}
{%- set letters = spark_cdc._format_letters(column.format) -%}
{%- if column.data_type == 'date' -%}
{%- if modules.re.search('[HhKkmsSaAnNB]', letters) -%}
coalesce(try_to_timestamp({{ raw }}, {{ spark_cdc._literal(column.format) }}) <> cast({{ value }} as timestamp), false)
{%- endif -%}
{%- else -%}
{%- set losses = [] -%}
{%- if 'SSSSSSS' in letters -%}
{%- do losses.append(value ~ ' is not null and ' ~ raw ~ " rlike '[.,][0-9]{6}[0-9]*[1-9]'") -%}
{%- endif -%}
{%- if column.data_type == 'timestamp' and '/' in timezone and not spark_cdc._names_a_zone(column.format) -%}
{%- set clock = spark_cdc._cast_instant(raw, column.format, 'UTC') -%}
{%- do losses.append(spark_cdc._is_another_clock(clock, value, spark_cdc._literal(timezone))) -%}
{%- endif -%}
{{ losses | join(' or ') }}
{%- endif -%}
{%- endmacro -%}


{#- Whether a text of which Spark made a time is as long as Spark itself writes it, with four digits of a year: then all that it could hold
    besides is a blank or a T behind a shorter date. That is faster to see than by a pattern. -#}
{%- macro _is_plain_time(raw, value, type) -%}
{%- if type == 'date' -%}
(octet_length({{ raw }}) = 10 and {{ value }} between date'0001-01-01' and date'9999-12-31' and substr({{ raw }}, 9, 1) between '0' and '9')
{%- else -%}
(octet_length({{ raw }}) = 19 and substr({{ raw }}, 5, 1) = '-' and not startswith({{ raw }}, '0000'))
{%- endif -%}
{%- endmacro -%}


{#- Whether a text is a time that its zone skips, which Spark shifts by an hour. For a region that may be only where its clock was put
    forward or back within the day before, which is faster to see than by reading the text once more. -#}
{%- macro _is_in_gap(raw, value, timezone) -%}
{%- set region = '[A-Za-z_]+(/[A-Za-z0-9_+-]+)+' -%}
{%- set zone = spark_cdc._literal(timezone) -%}
{%- set day = '86400000000L' -%}
{%- set bare = 'regexp_replace(' ~ raw ~ ', ' ~ spark_cdc._literal(' ?' ~ region) ~ ", 'Z')" -%}
case when contains({{ raw }}, '/') then {# -#}
{{ spark_cdc._is_another_clock('try_cast(' ~ bare ~ ' as timestamp)', value, 'regexp_extract(' ~ raw ~ ', ' ~ spark_cdc._literal(region) ~ ', 0)') }}
{%- if '/' in timezone %} {# -#}
when unix_micros(from_utc_timestamp({{ value }}, {{ zone }})) {# -#}
- unix_micros(from_utc_timestamp(timestamp_micros(unix_micros({{ value }}) - {{ day }}), {{ zone }})) <> {{ day }} {# -#}
and not {{ spark_cdc._has_zone(raw) }} then {# -#}
{{ spark_cdc._is_another_clock(spark_cdc._cast_instant(raw, none, 'UTC'), value, zone) }}
{%- endif %} else false end
{%- endmacro -%}


{#- Whether an instant shows another time on the wall clock of a zone than the given one, which is there as an instant in UTC. -#}
{%- macro _is_another_clock(clock, instant, zone) -%}
coalesce({{ clock }} <> from_utc_timestamp({{ instant }}, {{ zone }}), false)
{%- endmacro -%}
