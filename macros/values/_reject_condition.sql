{#- When a column makes its row unacceptable: null where it must not be, text that does not fit the type, or a
    value that fits only with a loss. Arguments: column (dictionary), raw (expression of the value as it came in), value (expression of
    what _cast() made of it), is_text (as there). Returns a condition that is never null, or an empty text where nothing can be wrong. -#}
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
