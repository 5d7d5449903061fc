{#- Whether from_json would read something else than a message holds, and say nothing. Returns a
    condition that is never null. -#}
{%- macro _is_misread(message) -%}
({{ spark_cdc._misread_as_one(message) }} or {{ spark_cdc._misread_surrogate(message) }})
{%- endmacro -%}


{#- What is wrong with a message of which _is_misread() is true, as an expression. -#}
{%- macro _misread_text(message) -%}
{%- set surrogate = 'half of a surrogate pair (\\ud800 to \\udfff), which is no character; accepted are pairs' -%}
{%- set several = 'more than one JSON object in a message, or text behind it; accepted is one object a line' -%}
if({{ spark_cdc._misread_surrogate(message) }}, {{ spark_cdc._literal(surrogate) }}, {{ spark_cdc._literal(several) }})
{%- endmacro -%}


{#- The option that reads a line which looks like the begin of an array of objects, or of an object
    over several lines, as an expression; an empty text for all other lines. -#}
{%- macro _over_lines_hint(message) -%}
{%- set hint = ' (arrays, and objects over several lines, are read from files with source.options.multiLine: true)' -%}
if({{ message }} rlike '^[\\ufeff \\t\\r]*(\\[[ \\t\\r]*([{]|$)|[{][ \\t\\r]*$)', {{ spark_cdc._literal(hint) }}, '')
{%- endmacro -%}


{#- More than one JSON object: from_json would read the first and drop the rest. Its parts are
    counted as those of an array, which takes no longer than a regular expression and finds more:
    only a `]` between two objects ends the array unseen. What is not counted as one is parsed as
    from_json does, which accepts more, such as NaN. -#}
{%- macro _misread_as_one(message) -%}
({{ message }} is not null and coalesce(json_array_length(concat('[', {{ message }}, ']')), 0) <> 1 {# -#}
and coalesce(size(from_json(concat('[', {{ message }}, ']'), 'array<string>', map({{ spark_cdc._json_limits() }}))), 0) <> 1)
{%- endmacro -%}


{#- Half of a pair of \u escapes: from_json would make it a question mark. Pairs, and other
    escapes, are taken out first. -#}
{%- macro _misread_surrogate(message) -%}
{%- set whole = spark_cdc._literal('\\\\([^u]|u[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F])') -%}
if(contains({{ message }}, '\\u') and (contains({{ message }}, '\\ud') or contains({{ message }}, '\\uD')), {# -#}
regexp_replace({{ message }}, {{ whole }}, '') rlike {{ spark_cdc._literal('\\\\u[dD][89a-fA-F]') }}, false)
{%- endmacro -%}


{#- Whether Spark's ORC writer changes a value: a date or an instant of the ten days skipped in 1582
    (in the server's zone, whichever it is), an instant with a fraction right before 1970.
    Arguments: type (of _hash_type()), value. Returns a condition; an empty text if it changes
    none. -#}
{%- macro _orc_misfit(type, value, depth=0) -%}
{%- set part, parts = 'orc_' ~ depth, [] -%}
{%- if type.kind == 'date' -%}
    {%- do parts.append(value ~ " between date'1582-10-05' and date'1582-10-14'") -%}
{%- elif type.kind == 'timestamp' -%}
    {%- set micros = 'unix_micros(' ~ value ~ ')' -%}
    {%- do parts.append(micros ~ ' between -12220207200000000L and -12219249600000001L or ' ~ micros ~ ' between -999000L and -1L') -%}
{%- elif type.kind in ['array', 'map'] -%}
    {%- for inner, items in ([('element', value)] if type.kind == 'array' else [('key', 'map_keys(' ~ value ~ ')'), ('value', 'map_values(' ~ value ~ ')')]) -%}
        {%- set condition = spark_cdc._orc_misfit(type[inner], part, depth + 1) -%}
        {%- do parts.append('exists(' ~ items ~ ', ' ~ part ~ ' -> ' ~ condition ~ ')') if condition -%}
    {%- endfor -%}
{%- elif type.kind == 'struct' -%}
    {%- for field in type.fields -%}
        {%- do parts.append(spark_cdc._orc_misfit(field.type, value ~ '.' ~ spark_cdc._quote(field.name), depth)) -%}
    {%- endfor -%}
{%- endif -%}
{{ parts | select | join(' or ') }}
{%- endmacro -%}


{#- When a column makes its row unacceptable: null where it must not be, text that does not fit
    the type, or a value that fits only with a loss. Arguments: column (dictionary), raw
    (expression of the value as it came in), value (expression of what _cast() made of it),
    is_text (as there). Returns a condition that is never null, or an empty text where nothing
    can be wrong. -#}
{%- macro _reject_condition(column, raw, value, is_text, entity) -%}
{%- set is_missing -%}
{%- if not column.nullable -%}
{{ value }} is null
{%- elif not is_text and not column.get('is_cast', true) -%}
{%- elif not is_text -%}
{{ raw }} is not null and {{ value }} is null
{%- elif column.data_type != 'string' -%}  {#- an empty field is null for every type but text -#}
{{ value }} is null and coalesce({{ raw }}, '') <> ''
{%- endif -%}
{%- endset -%}
{%- set is_lossy = spark_cdc._reject_loss_condition(column, raw, value, entity) if is_text else '' -%}
{{ [is_missing, is_lossy] | select | join(' or ') }}
{%- endmacro -%}


{#- A condition on a text that is cheaper than _reject_condition() and holds if that one does; it
    may also hold for some values that are accepted. Arguments: column, raw, value (as there).
    Returns an expression that is never null, or an empty text for types without such a
    condition. -#}
{%- macro _reject_doubt(column, raw, value) -%}
{%- set is_plain = not (column.get('numbers') or column.get('encoding') or column.get('century')) -%}
{%- set type, lost = column.data_type if is_plain else '', [] -%}
{%- if type in ['float', 'double'] -%}
{%- do lost.append(value ~ ' = 0 and ' ~ raw ~ " rlike '[1-9]' or abs(" ~ value ~ ') >= ' ~ spark_cdc._whole_numbers_of(type) ~ 'D') -%}
{%- do lost.append('(' ~ spark_cdc._has_number_letters(raw) ~ ') and ' ~ raw ~ " rlike '[dDfFxX]'") -%}
{%- elif type.startswith('decimal') -%}
{%- set scale = spark_cdc._decimal_digits(type)[1] -%}
{%- do lost.append('instr(' ~ raw ~ ", '.') between 1 and octet_length(" ~ raw ~ ') - ' ~ (scale + 1)
    ~ ' and ' ~ raw ~ " rlike '[.][0-9]{" ~ scale ~ "}[0-9]*[1-9]'") -%}
{%- do lost.append('contains(' ~ raw ~ ", 'e') or contains(" ~ raw ~ ", 'E')") -%}
{%- endif -%}
{%- if lost -%}
coalesce({{ value }} is null{{ ' and ' ~ raw ~ " <> ''" if column.nullable }} or {{ lost | join(' or ') }}, false)
{%- endif -%}
{%- endmacro -%}


{#- The first whole number after which a float or double can't represent each one. -#}
{%- macro _whole_numbers_of(type) -%}{{ {'float': 16777216, 'double': 9007199254740992}[type] }}{%- endmacro -%}


{#- Whether a number's text may have letters of Java's notation (1d, 0x1p3). -#}
{%- macro _has_number_letters(raw) -%}
not right({{ raw }}, 1) between '0' and '9' or contains({{ raw }}, 'x') or contains({{ raw }}, 'X')
{%- endmacro -%}


{#- When something of a text is lost or bent in its type, which Spark does in silence: a
    condition that is never null, or an empty text where nothing can be. What is accepted stands
    in docs/values.md. Arguments: column, raw and value (as _reject_condition() has them),
    entity. -#}
{%- macro _reject_loss_condition(column, raw, value, entity) -%}
{%- set type = column.data_type -%}
{%- set raw = '(' ~ spark_cdc._number_text(column.numbers, raw) ~ ')' if column.get('numbers') else raw -%}
{%- if column.get('century') -%}
{{ spark_cdc._reject_loss_condition(dict(column, century=none, format=none), spark_cdc._century_text(column, raw), value, entity) }}
{%- elif column.get('encoding') -%}  {#- which has judged that itself -#}
{%- elif type.startswith('decimal') -%}
{#- Digits after the point beyond the scale, zeros at the end apart. With an exponent: the digits
    after the point, minus the exponent, minus the zeros that the number ends with. Only long
    texts meet a regular expression. -#}
{%- set scale = spark_cdc._decimal_digits(type)[1] -%}
coalesce(if(contains({{ raw }}, 'e') or contains({{ raw }}, 'E'), {{ raw }} rlike '^[^eE]*[1-9]' and {# -#}
length(regexp_extract({{ raw }}, '[.]([0-9]*)[eE]', 1)) - try_cast(regexp_extract({{ raw }}, '[eE](.*)', 1) as bigint) {# -#}
- length(regexp_extract(replace({{ raw }}, '.', ''), '(0*)[eE]', 1)) > {{ scale }}, {# -#}
length(substring_index({{ raw }}, '.', -1)) > {{ scale }} and {{ raw }} rlike '[.][0-9]{{ '{' ~ scale ~ '}' }}[0-9]*[1-9]'), false)
{%- elif type in ['float', 'double'] -%}
{#- A number that becomes infinite or zero, letters of Java's notation (1d, 0x1p3), a whole
    number below 2^63 that becomes another one. Fractions are rounded, as these types do. -#}
coalesce(if(abs({{ value }}) = double('Infinity'), {{ raw }} rlike '[0-9]', {# -#}
{{ value }} = 0 and {{ raw }} rlike '^[^eE]*[1-9]' {# -#}
or ({{ spark_cdc._has_number_letters(raw) }}) and {{ raw }} rlike '[dDfFxX]' {# -#}
or abs({{ value }}) between {{ spark_cdc._whole_numbers_of(type) }}D and 9223372036854774784D and {{ raw }} rlike '^\\s*[-+]?[0-9]+([.]0*)?\\s*$' {# -#}
and try_cast({{ raw }} as decimal(38, 0)) <> try_cast({{ value }} as bigint)), false)
{%- elif type in ['date', 'timestamp', 'timestamp_ntz'] and column.format -%}
{#- with a pattern of the user's: a time of day of a date, digits below the microsecond, and an hour
    that the zone skips -#}
{%- set letters, losses = spark_cdc._format_letters(column.format), [] -%}
{%- if type == 'date' and letters | select('in', 'HhKkmsSaAnNB') | list -%}
{%- do losses.append('coalesce(try_to_timestamp(' ~ raw ~ ', ' ~ spark_cdc._literal(column.format) ~ ') <> cast(' ~ value ~ ' as timestamp), false)') -%}
{%- elif type != 'date' and 'SSSSSSS' in letters -%}
{%- do losses.append(value ~ ' is not null and ' ~ raw ~ " rlike '[.,][0-9]{6}[0-9]*[1-9]'") -%}
{%- endif -%}
{%- if type == 'timestamp' and '/' in entity.timezone and not spark_cdc._names_a_zone(column.format) -%}
{%- do losses.append(spark_cdc._is_another_clock(
    spark_cdc._cast_instant(raw, column.format, 'UTC'), value, spark_cdc._literal(entity.timezone))) -%}
{%- endif -%}
{{ losses | join(' or ') }}
{%- elif type in ['date', 'timestamp', 'timestamp_ntz'] -%}
{#- A text as long as Spark itself writes it, with four digits of a year, can hold nothing besides
    but a blank or a T behind a shorter date, which is faster to see than by a pattern -#}
{{ value }} is not null and (not {# -#}
{% if type == 'date' -%}
(octet_length({{ raw }}) = 10 and {{ value }} between date'0001-01-01' and date'9999-12-31' and substr({{ raw }}, 9, 1) between '0' and '9')
{%- else -%}
(octet_length({{ raw }}) = 19 and substr({{ raw }}, 5, 1) = '-' and not startswith({{ raw }}, '0000'))
{%- endif %} and not {{ raw }} rlike {# -#}
{{ spark_cdc._literal(spark_cdc._time_pattern(type)) }}
{%- if type == 'timestamp' %} or {{ spark_cdc._is_in_gap(raw, value, entity.timezone) }}{% endif %})
{%- elif type == 'binary' and column.format == 'hex' -%}
{{ value }} is not null and length({{ raw }}) % 2 = 1
{%- elif type.startswith(('array', 'struct', 'map')) -%}
{{ spark_cdc._misread_as_one(raw) }} or {{ spark_cdc._nested_loss_condition(spark_cdc._hash_type(type), raw, entity) }}
{%- endif -%}
{%- endmacro -%}


{#- Whether a text is a time that its zone skips, which Spark shifts by an hour. For a region
    that may be only where its clock was put forward or back within the day before, which is
    faster to see than by reading the text once more. -#}
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


{#- Whether an instant shows another time on the wall clock of a zone than the given one, which
    is there as an instant in UTC. -#}
{%- macro _is_another_clock(clock, instant, zone) -%}
coalesce({{ clock }} <> from_utc_timestamp({{ instant }}, {{ zone }}), false)
{%- endmacro -%}
