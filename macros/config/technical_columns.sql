{#- The names that the project gives to its own columns, in one place; an entity's columns may not use them.
    Returns a list of texts. -#}
{%- macro technical_columns() -%}
    {{ return([
        'key_hash', 'nonkey_hash', 'ignored_hash', 'operation', 'eff_start_date', 'eff_end_date', 'is_current',
        'business_date', 'load_id', 'note', 'is_deleted', 'in_base', 'in_log', 'in_last_load',
        'carried_operation', 'landing_problem', 'is_rejected', 'recency',
    ]) }}
{%- endmacro -%}
