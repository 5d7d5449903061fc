{#- A typed column as text that staging reads back as the same value, whatever the session's time zone; where columns
    arrive as text, the text that arrived. Arguments: entity, column (dictionary, or none). Returns an expression. -#}
{%- macro _event_text(entity, column) -%}
{%- if column is none -%}
cast(null as string)
{%- elif entity.source.text -%}
{{ spark_cdc._raw(column) }}
{%- elif column.data_type == 'binary' and column.format == 'utf8' -%}
decode({{ column.sql }}, 'utf-8')
{%- elif column.data_type == 'binary' -%}
{{ 'hex' if column.format == 'hex' else 'base64' }}({{ column.sql }})
{%- elif column.data_type == 'timestamp' -%}
{{ spark_cdc._instant_text(column.sql) }}
{%- else -%}
cast({{ column.sql }} as string)
{%- endif -%}
{%- endmacro -%}
