{#- What stands in messages in the place of values, of entities with sensitive columns. -#}
{%- macro _values_apart_text() -%}{{ return('values are not shown, since the entity has sensitive columns') }}{%- endmacro -%}
