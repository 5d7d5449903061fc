{#- A message, ready to be parsed. from_json reads a number with a point as a double, which keeps 15 digits, and text as it
    is: so where a column is a decimal with more digits than that, long numbers with a point are put between quotes. Only
    messages that hold one pay for it. Nothing inside a text of the message is touched.
    Arguments: entity, message (expression). Returns an expression. -#}
{%- macro _json_document(entity, message) -%}
{%- set types = entity.columns | rejectattr('encoding') | map(attribute='data_type') | join(' ') -%}
{%- set digits = modules.re.findall('decimal *[(] *([0-9]+)', types) | map('int') | list -%}
{%- if ([0] + digits) | max <= 15 -%}
{{ message }}
{%- else -%}
{#- more than 15 digits and a point: there are 8 digits on one side of it -#}
{%- set long = '[.](?:[0-9]{8}|(?<=[0-9]{8}[.])[0-9])' -%}
{%- set number = '(?<![0-9.])(?=[0-9.]{17})(?=[0-9]*+[.][0-9])' -%}
{#- a text, or a long number with the next quote: $3 is that quote, and nothing where a text was found; all
    quantifiers are possessive, so that no message makes the search slow -#}
{%- set pattern = '("[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+")|(-?+' ~ number ~ '[0-9]++[.][0-9]++(?:[eE][+-]?+[0-9]++)?+)(?=[^"]*+("))' -%}
if({{ message }} rlike {{ spark_cdc._literal(long) }}, {# -#}
regexp_replace(concat({{ message }}, ' "'), {{ spark_cdc._literal(pattern) }}, '$1$3$2$3'), {{ message }})
{%- endif -%}
{%- endmacro -%}
