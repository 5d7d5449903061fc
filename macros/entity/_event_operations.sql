{#- What an event may say that happened, as docs/events.md explains. Returns a list of texts. -#}
{%- macro _event_operations() -%}
    {{ return(['insert', 'update', 'upsert', 'delete', 'truncate', 'read', 'control']) }}
{%- endmacro -%}
