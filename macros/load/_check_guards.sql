{#- Compares the figures of an audited load with the guards of its entity (see _guards()), and refuses it where one of them
    trips. Nothing is read but, for rows_band, the rows in of the last loads in cdc_loads.
    Arguments: entity, ledger (relation), load (of _plan_load()), audit (of _audit_load()). Returns nothing. -#}
{%- macro _check_guards(entity, ledger, load, audit) -%}
    {%- set limits = entity.guards -%}
    {%- set counts = audit.counts -%}
    {%- set is_full = load.load_type == 'full' -%}
    {%- set tripped = {} -%}
    {%- if is_full and not audit.rows_in and audit.rows_prior -%}
        {%- if limits.empty is not none -%}
            {%- do tripped.update({'empty': 'the snapshot is empty, but ' ~ audit.rows_prior ~ ' rows exist: all of them would be deleted'}) -%}
        {%- endif -%}
    {%- elif audit.rows_prior and audit.rows_prior >= limits.min_rows -%}
        {%- for guard, operation, what in [('deleted_share', 'D', 'deleted'), ('updated_share', 'U', 'updated'), ('inserted_share', 'I', 'inserted')]
                if limits[guard] is not none and counts[operation] > limits[guard] * audit.rows_prior -%}
            {%- do tripped.update({guard:
                counts[operation] ~ ' rows would be ' ~ what ~ ', where ' ~ audit.rows_prior ~ ' exist: a share of '
                ~ spark_cdc._share(counts[operation], audit.rows_prior) ~ ', accepted are ' ~ limits[guard]
                ~ spark_cdc._guard_examples(entity, ledger, load, operation)
            }) -%}
        {%- endfor -%}
        {%- if is_full and limits.rows_band is not none -%}
            {%- set usual = spark_cdc._usual_rows(entity, load) -%}
            {%- if usual.rows and not limits.rows_band[0] * usual.rows <= audit.rows_in <= limits.rows_band[1] * usual.rows -%}
                {%- do tripped.update({'rows_band':
                    audit.rows_in ~ ' rows came in, ' ~ spark_cdc._share(audit.rows_in, usual.rows) ~ ' times the ' ~ usual.rows
                    ~ ' of the last ' ~ usual.loads ~ (' load' if usual.loads == 1 else ' loads') ~ ' (median), accepted are '
                    ~ limits.rows_band[0] ~ ' to ' ~ limits.rows_band[1] ~ ' times'
                }) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endif -%}
    {%- set too_many = limits.rejects is not none and counts.R > limits.rejects -%}
    {%- set too_large = limits.rejected_share is not none and audit.rows_in >= limits.min_rows
            and counts.R > limits.rejected_share * audit.rows_in -%}
    {%- for guard, is_tripped in [('rejects', too_many), ('rejected_share', too_large)] if is_tripped -%}
        {%- do tripped.update({guard:
            counts.R ~ ' of ' ~ audit.rows_in ~ ' rows are rejected'
            ~ (': a share of ' ~ spark_cdc._share(counts.R, audit.rows_in) if guard == 'rejected_share' else '') ~ ', accepted are '
            ~ limits[guard] ~ '; ' ~ spark_cdc._reject_lines(ledger, load, 'true') | join('; ')
        }) -%}
    {%- endfor -%}
    {%- if tripped -%}
        {%- do spark_cdc._refuse_by_guards(entity, load, audit, tripped) -%}
    {%- endif -%}
{%- endmacro -%}


{%- macro _refuse_by_guards(entity, load, audit, tripped) -%}
    {%- set lines = [] -%}
    {%- for guard, what in tripped.items() -%}{%- do lines.append(guard ~ ': ' ~ what) -%}{%- endfor -%}
    {%- do spark_cdc._refuse_load(
        entity, tripped | join(', '),
        entity.name ~ ': ' ~ ('a guard stops' if tripped | length == 1 else 'guards stop') ~ ' the load of ' ~ load.business_time ~ '.\n    - '
        ~ lines | join('\n    - ') ~ '\nNothing was committed and readers see what they saw before. If the data is wrong, correct it and run '
        ~ 'the same command again. If it is right: ' ~ spark_cdc._lift_command(entity, load, tripped | list)
        ~ '. For good: guards in the YAML of stg_' ~ entity.name ~ '.',
        load, audit
    ) -%}
{%- endmacro -%}


{#- A share with three digits. -#}
{%- macro _share(part, whole) -%}{{ return('%.3g' | format(part / whole)) }}{%- endmacro -%}


{#- Keys of some rows that a load tags with an operation, for a message. Returns text. -#}
{%- macro _guard_examples(entity, ledger, load, operation) -%}
    {%- if not entity.key_columns -%}{{ return('') }}{%- endif -%}
    {%- set examples = spark_cdc._query(
        'select ' ~ entity.key_columns | map(attribute='sql') | join(', ') ~ ' from ' ~ ledger ~ " where load_id = '" ~ load.load_id
        ~ "' and operation = '" ~ operation ~ "' limit 3"
    ) -%}
    {{ return('; for instance ' ~ spark_cdc._key_lines(entity, examples) | join('; ')) }}
{%- endmacro -%}


{#- How many rows usually come in: the median of the last five full loads that count. Returns a dictionary: rows, loads. -#}
{%- macro _usual_rows(entity, load) -%}
    {%- set last = [] -%}
    {%- for load_id in load.keep if spark_cdc._is_full(load_id) -%}{%- do last.append(load_id) -%}{%- endfor -%}
    {%- set load_log = spark_cdc._load_log() -%}
    {%- if not last or load_log is none -%}
        {{ return({'rows': 0, 'loads': 0}) }}
    {%- endif -%}
    {%- set rows = [] -%}
    {%- for found in spark_cdc._query(
        'select rows_in from ' ~ load_log ~ " where entity = '" ~ entity.name ~ "' and " ~ spark_cdc._in_loads(last[-5:])
    ) if found.rows_in is not none -%}
        {%- do rows.append(found.rows_in | int) -%}
    {%- endfor -%}
    {%- set sorted = rows | sort -%}
    {%- set half = sorted | length // 2 -%}
    {%- if not sorted -%}
        {{ return({'rows': 0, 'loads': 0}) }}
    {%- elif sorted | length is odd -%}
        {{ return({'rows': sorted[half], 'loads': sorted | length}) }}
    {%- endif -%}
    {{ return({'rows': (sorted[half - 1] + sorted[half]) / 2, 'loads': sorted | length}) }}
{%- endmacro -%}
