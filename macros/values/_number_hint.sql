{#- What to say of a text that is a number, but written as people do, as an expression; nothing for columns that hold no plain numbers. Arguments: column
    (dictionary), raw (expression). -#}
{%- macro _number_hint(column, raw) -%}
{%- if column.get('numbers') or column.get('encoding') or spark_cdc._hash_type(column.data_type).get('kind') not in spark_cdc._numbers_kinds() -%}
    {{ return('') }}
{%- endif -%}
{%- set separators = "., '\u2019\u00a0\u202f_" -%}
{%- set number = '^\\s*[-+]?[0-9][0-9' ~ separators ~ ']*[-+]?\\s*$' -%}
{%- set odd = '[0-9][, \'\u2019\u00a0\u202f_][0-9]|[.].*[.]|[-+]\\s*$' -%}
if(coalesce({{ raw }} rlike {{ spark_cdc._literal(number) }} and {{ raw }} rlike {{ spark_cdc._literal(odd) }}, false), {# -#}
'; if numbers are written so, set decimal, grouping or trailing_sign (docs/values.md)', '')
{%- endmacro -%}
