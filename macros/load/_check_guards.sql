{#- Compares the figures of an audited load with the guards of its entity (see _guards()), and refuses it where one of them
    trips. Nothing is read but, for rows_band, the rows in of the last loads in cdc_loads.
    Arguments: entity, ledger (relation), load (of _plan_load()), audit (of _audit_load()). -#}
{%- macro _check_guards(entity, ledger, load, audit) -%}
    {%- set tripped = dict(spark_cdc._tripped_by_changes(entity, ledger, load, audit), **spark_cdc._tripped_by_rejects(entity, ledger, load, audit)) -%}
    {%- if not tripped -%}
        {{ return('') }}
    {%- endif -%}
    {%- set lines = [] -%}
    {%- for guard, what in tripped.items() -%}{%- do lines.append(guard ~ ': ' ~ what) -%}{%- endfor -%}
    {%- set message -%}
{{ entity.name }}: {{ 'a guard stops' if tripped | length == 1 else 'guards stop' }} the load of {{ load.business_time }}.
    - {{ lines | join('\n    - ') }}
Nothing was committed and readers see what they saw before. If the data is wrong, correct it and run the same command again. If it is {# -#}
right: {{ spark_cdc._lift_command(entity, load, tripped | list) }}. For good: guards in the YAML of stg_{{ entity.name }}.
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, tripped | join(', '), message, load, audit) -%}
{%- endmacro -%}


{#- Guards on what a load would change: a dictionary from guard to what is wrong, in words. -#}
{%- macro _tripped_by_changes(entity, ledger, load, audit) -%}
    {%- set limits, counts = entity.guards, audit.counts -%}
    {%- set is_full = load.load_type == 'full' -%}
    {%- if is_full and not audit.rows_in and audit.rows_prior -%}
        {%- set what = 'the snapshot is empty, but ' ~ audit.rows_prior ~ ' rows exist: all of them would be deleted' -%}
        {{ return({} if limits.empty is none else {'empty': what}) }}
    {%- elif not audit.rows_prior or audit.rows_prior < limits.min_rows -%}
        {{ return({}) }}
    {%- endif -%}
    {%- set tripped = {} -%}
    {%- for guard, operation, done in [('deleted_share', 'D', 'deleted'), ('updated_share', 'U', 'updated'), ('inserted_share', 'I', 'inserted')]
            if limits[guard] is not none and counts[operation] > limits[guard] * audit.rows_prior -%}
        {%- set what -%}
{{ counts[operation] }} rows would be {{ done }}, where {{ audit.rows_prior }} exist: a share of {# -#}
{{ spark_cdc._share(counts[operation], audit.rows_prior) }}, accepted are {{ limits[guard] }}
{{- spark_cdc._guard_examples(entity, ledger, load, operation) }}
        {%- endset -%}
        {%- do tripped.update({guard: what}) -%}
    {%- endfor -%}
    {%- if is_full and limits.rows_band is not none -%}
        {%- set usual = spark_cdc._usual_rows(entity, load) -%}
        {%- if usual.rows and not limits.rows_band[0] * usual.rows <= audit.rows_in <= limits.rows_band[1] * usual.rows -%}
            {%- set what -%}
{{ audit.rows_in }} rows came in, {{ spark_cdc._share(audit.rows_in, usual.rows) }} times the {{ usual.rows }} of the last {# -#}
{{ spark_cdc._counted(usual.loads, 'load') }} (median), accepted are {{ limits.rows_band[0] }} to {{ limits.rows_band[1] }} times
            {%- endset -%}
            {%- do tripped.update({'rows_band': what}) -%}
        {%- endif -%}
    {%- endif -%}
    {{ return(tripped) }}
{%- endmacro -%}


{#- Guards on rows that are set aside, in the same form. -#}
{%- macro _tripped_by_rejects(entity, ledger, load, audit) -%}
    {%- set limits, rejected = entity.guards, audit.counts.R -%}
    {%- set too_many = limits.rejects is not none and rejected > limits.rejects -%}
    {%- set too_large = limits.rejected_share is not none and audit.rows_in >= limits.min_rows and rejected > limits.rejected_share * audit.rows_in -%}
    {%- set tripped = {} -%}
    {%- for guard, is_tripped in [('rejects', too_many), ('rejected_share', too_large)] if is_tripped -%}
        {%- set share = ': a share of ' ~ spark_cdc._share(rejected, audit.rows_in) if guard == 'rejected_share' else '' -%}
        {%- set examples = spark_cdc._reject_lines(ledger, load, 'true') | join('; ') -%}
        {%- do tripped.update({
            guard: rejected ~ ' of ' ~ audit.rows_in ~ ' rows are rejected' ~ share ~ ', accepted are ' ~ limits[guard] ~ '; ' ~ examples
        }) -%}
    {%- endfor -%}
    {{ return(tripped) }}
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
    {%- for load_id in load.keep if spark_cdc._load_kind(load_id).is_full -%}{%- do last.append(load_id) -%}{%- endfor -%}
    {%- set load_log = spark_cdc._load_log() -%}
    {%- set rows = [] -%}
    {%- if last and load_log is not none -%}
        {%- for found in spark_cdc._query(
            'select rows_in from ' ~ load_log ~ " where entity = '" ~ entity.name ~ "' and " ~ spark_cdc._in_loads(last[-5:])
        ) if found.rows_in is not none -%}
            {%- do rows.append(found.rows_in | int) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- set sorted = rows | sort -%}
    {%- set half = sorted | length // 2 -%}
    {%- if not sorted -%}
        {{ return({'rows': 0, 'loads': 0}) }}
    {%- endif -%}
    {{ return({'rows': sorted[half] if sorted | length is odd else (sorted[half - 1] + sorted[half]) / 2, 'loads': sorted | length}) }}
{%- endmacro -%}
