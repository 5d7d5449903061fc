{#- A number in text as Spark reads it, from how people write it; null where it is not written so. Digits are grouped by three, or by two before the last three:
    else 1.5 would be 15. Arguments: numbers (of _numbers()), raw (expression). -#}
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
