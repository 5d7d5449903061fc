{#- Rejected rows stop a load unless their kind is set aside (entity.quarantine). Two different events at one place do in
    any case: which of them holds nobody knows, and earlier events of the key are not applied either. -#}
{%- macro _check_rejects(entity, ledger, load, known) -%}
    {%- set tied = known.counts.R - known.record.events.rejected if entity.events else 0 -%}
    {%- if tied > 0 -%}
        {%- do spark_cdc._refuse_rejects(entity, ledger, load, known, ['tied_events'], tied, "note like '%name a tie_breaker%'") -%}
    {%- endif -%}
    {%- set conditions = spark_cdc._reject_kinds() -%}
    {%- set found = spark_cdc._query(
        'select count_if(' ~ conditions.null_keys ~ ') as null_keys, count_if(' ~ conditions.duplicate_keys ~ ') as duplicate_keys, '
        ~ 'count_if(' ~ conditions.failed_casts ~ ') as failed_casts from ' ~ ledger
        ~ " where load_id = '" ~ load.load_id ~ "' and operation = 'R'"
    )[0] -%}
    {%- set refused = namespace(kinds=[], rows=0, conditions=[]) -%}
    {%- for kind in conditions if found[kind] | int and kind not in entity.quarantine -%}
        {%- do refused.kinds.append(kind) -%}
        {%- do refused.conditions.append('(' ~ conditions[kind] ~ ')') -%}
        {%- set refused.rows = refused.rows + found[kind] | int -%}
    {%- endfor -%}
    {%- if refused.kinds -%}
        {%- do spark_cdc._refuse_rejects(entity, ledger, load, known, refused.kinds, refused.rows, refused.conditions | join(' or ')) -%}
    {%- endif -%}
{%- endmacro -%}


{#- Which rejected rows are of which kind, as conditions over the ledger. -#}
{%- macro _reject_kinds() -%}
    {%- set repeated = "coalesce(get_json_object(note, '$.reasons[0]') like " ~ spark_cdc._literal(spark_cdc._repeated_reason() ~ '%') ~ ', false)' -%}
    {{ return({
        'null_keys': 'key_hash is null',
        'failed_casts': 'key_hash is not null and not ' ~ repeated,
        'duplicate_keys': 'key_hash is not null and ' ~ repeated,
    }) }}
{%- endmacro -%}


{%- macro _refuse_rejects(entity, ledger, load, known, kinds, row_count, condition) -%}
    {%- set lines = spark_cdc._reject_lines(ledger, load, condition) -%}
    {%- set way_out = '' if kinds == ['tied_events'] else ' To set such rows aside this once: '
            ~ spark_cdc._lift_command(entity, load, kinds) ~ '; always: on_reject: quarantine.' -%}
    {%- do spark_cdc._refuse_load(
        entity, kinds | join(', '),
        entity.name ~ ': ' ~ row_count ~ (' row' if row_count == 1 else ' rows') ~ ' of ' ~ load.business_time
        ~ " can't be accepted as declared in stg_" ~ entity.name ~ '; ' ~ (lines | length) ~ ' of them:\n    - '
        ~ lines | join('\n    - ') ~ '\nNothing was committed and readers see what they saw before. Correct the data '
        ~ 'or the types, and run the same command again.' ~ way_out ~ ' The rejected rows are in ' ~ ledger ~ " where load_id = '"
        ~ load.load_id ~ "' and operation = 'R'.",
        load, known
    ) -%}
{%- endmacro -%}
