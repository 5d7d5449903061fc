{#- A value that is encoded: a time as a whole number since 1970-01-01 00:00 UTC, or a decimal as base64. Null where it
    lies outside the years 1 to 9999 or does not fit without a loss. -#}
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


{#- A decimal as Java and Kafka Connect write one: the unscaled number in two's complement, its highest byte first, as
    base64. The scale is the declared type's, or stands beside it: {"scale": 2, "value": "MDk="}. Each transform of an
    array with one element gives a name to what is used again: t the base64 text, h the number in hexadecimal digits,
    u the number as text, s the scale beside it. -#}
{%- macro _cast_base64_decimal(raw, type) -%}
{%- set declared = modules.re.fullmatch('[a-z]+ *(?:[(] *[0-9]+ *(?:, *([0-9]+) *)?[)])?', type) -%}
{%- set scale = (declared.group(1) or 0) | int -%}
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


{#- The whole number h, in hexadecimal digits of its two's complement, as text. Spark converts 64 bits at once; up to
    128 bits are two halves of p, 32 digits without the sign: of the complement, where the number is negative. -#}
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
