{#- The names that the project gives to its own columns, in one place; an entity's columns may not use them.
    Returns a list of texts. -#}
{%- macro _technical_columns() -%}
    {{ return([
        'key_hash', 'nonkey_hash', 'ignored_hash', 'operation', 'eff_start_date', 'eff_end_date', 'is_current',
        'business_date', 'load_id', 'note', 'is_deleted', 'in_base', 'in_log', 'in_last_load',
        'rejected_columns', 'rejected_reason', 'rejected_row', 'repeated_key_hash', 'repeated_rows',
        'carried_operation', 'squashed_load_ids', 'landing_problem', 'is_rejected', 'recency',
    ]) }}
{%- endmacro -%}


{#- The further names of its own that a change-event entity has. Names that begin with step__, old__, filled__ or prior__
    are the project's, too. Returns a list of texts. -#}
{%- macro _event_technical_columns() -%}
    {{ return([
        'event_op', 'event_position', 'event_transaction', 'event_time', 'event_hash', 'event_before', 'event_after',
        'event_problem', 'event_absent', 'event_unavailable', 'event_unexpected',
        'event_end_position', 'event_end_time', 'old_key_hash', 'old_alternate_hash',
        'alternate_hashes', 'landing_names', 'final_position',
    ]) }}
{%- endmacro -%}
