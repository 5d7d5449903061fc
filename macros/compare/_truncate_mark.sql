{#- What stands in the place of the transaction of a delete that a truncate among archived events is: see _event_steps_sql(). -#}
{%- macro _truncate_mark() -%}{{ return(' truncate') }}{%- endmacro -%}
