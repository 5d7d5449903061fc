{#- What stands in the place of the transaction of a delete that a truncate among archived events is: see _transaction_of(). -#}
{%- macro _truncate_mark() -%}{{ return(' truncate') }}{%- endmacro -%}
