{#- Whether a name, in lower case, is one that the project gives to its own columns; an entity's columns may not use them.
    Change-event entities have more of them. -#}
{%- macro _is_reserved(name, is_events) -%}
    {%- set technical = [
        'key_hash', 'nonkey_hash', 'ignored_hash', 'operation', 'eff_start_date', 'eff_end_date', 'is_current',
        'business_date', 'load_id', 'note', 'is_deleted', 'in_base', 'in_log', 'in_last_load',
        'rejected_columns', 'rejected_reason', 'rejected_row', 'repeated_key_hash', 'repeated_rows',
        'carried_operation', 'squashed_load_ids', 'load_record', 'recommitted', 'landing_problem', 'is_rejected', 'recency',
        'rejected_rules', 'rule_bits', 'broken_rules',
    ] -%}
    {%- set of_events = [
        'event_op', 'event_position', 'event_transaction', 'event_time', 'event_hash', 'event_before', 'event_after',
        'event_problem', 'event_origin', 'event_absent', 'event_unavailable', 'event_unexpected', 'event_end_position', 'event_end_time',
        'old_key_hash', 'old_alternate_hash', 'alternate_hashes', 'landing_names', 'final_position',
    ] -%}
    {%- set is_of_events = name in of_events or modules.re.match('(step|old|filled|prior)__', name) is not none -%}
    {{ return(name in technical or (is_events and is_of_events)) }}
{%- endmacro -%}
