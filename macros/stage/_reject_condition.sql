{#- When a column makes its row unacceptable: null where it must not be, text that does not fit the type, or a
    value that fits only with a loss. Arguments: column (dictionary), raw (expression of the value as it came in), value (expression of
    what _cast() made of it), is_text (as there). Returns a condition that is never null, or an empty text where nothing can be wrong. -#}
{%- macro _reject_condition(column, raw, value, is_text) -%}
{%- set is_missing -%}
{%- if not column.nullable -%}
{{ value }} is null
{%- elif not is_text -%}
{{ raw }} is not null and {{ value }} is null
{%- elif column.data_type != 'string' -%}  {#- an empty field is null for every type but text -#}
{{ value }} is null and coalesce({{ raw }}, '') <> ''
{%- endif -%}
{%- endset -%}
{%- set is_lossy = spark_cdc._reject_loss_condition(column, raw, value) if is_text and not column.get('encoding') else '' -%}
{{ [is_missing, is_lossy] | select | join(' or ') }}
{%- endmacro -%}


{#- When something of a text is lost in its type. -#}
{%- macro _reject_loss_condition(column, raw, value) -%}
{%- set type = column.data_type -%}
{%- if type.startswith('decimal') -%}
{%- set decimals = modules.re.fullmatch('decimal *[(] *[0-9]+ *, *([0-9]+) *[)]', type) -%}
{%- set scale = decimals.group(1) if decimals else '0' -%}
{#- with an exponent the place of the point says nothing; only long texts are searched by a regular expression -#}
coalesce(if(contains({{ raw }}, 'e') or contains({{ raw }}, 'E'), cast({{ value }} as double) <> try_cast({{ raw }} as double), {# -#}
length(substring_index({{ raw }}, '.', -1)) > {{ scale }} and {{ raw }} rlike '[.][0-9]{{ '{' ~ scale ~ '}' }}[0-9]*[1-9]'), false)
{%- elif type == 'date' and not column.format -%}
coalesce(contains({{ raw }}, ':') and not {{ raw }} rlike '[T ]00:00(:00([.]0+)?)?[zZ]? *$', false)
{%- elif type == 'timestamp_ntz' and not column.format -%}
coalesce({{ raw }} rlike {{ spark_cdc._literal(spark_cdc._zone_pattern()) }}, false)
{%- elif modules.re.match('(array|struct|map)', type) -%}
{{ spark_cdc._parsed_json(raw, type) }}.problem is not null
{%- endif -%}
{%- endmacro -%}
