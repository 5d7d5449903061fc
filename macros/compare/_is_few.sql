{#- Whether the keys of so many rows, or events, are few enough to be broadcast. -#}
{%- macro _is_few(entity, rows) -%}{{ return((rows or 0) <= entity.checkpoint.rows) }}{%- endmacro -%}
