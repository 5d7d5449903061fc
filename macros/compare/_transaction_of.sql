{#- The column by which the steps of a transaction belong together. A truncate among archived events, which is a delete of each key there, ends what is on its way:
    no row is left behind under a key, and none is followed through it. Arguments: how (of _resolve_ctes()). -#}
{%- macro _transaction_of(how) -%}{{ return('step__part_of_transaction' if how.carried else 'step__transaction_id') }}{%- endmacro -%}
