{#- Compares the figures of an audited load with the guards of its entity (see _policy()), and
    refuses it where one of them trips. Nothing is read but, for rows_band, the rows in of the last
    loads in cdc_loads.
    Arguments: entity, ledger (relation), load (of _plan_load()), audit (of _audit_load()). -#}
{%- macro _check_guards(entity, ledger, load, audit) -%}
    {%- set limits, rejected, broken = entity.guards, audit.counts.R - audit.ruled_out, [] -%}
    {%- set tripped = spark_cdc._tripped_by_changes(entity, ledger, load, audit) -%}
    {#- without rows that rules reject: at_most is their limit -#}
    {%- if limits.rejected_share is not none and audit.rows_in >= limits.min_rows and rejected > limits.rejected_share * audit.rows_in -%}
        {%- set what -%}
{{ rejected }} of {{ audit.rows_in }} rows are rejected: a share of {{ spark_cdc._three_digits(rejected / audit.rows_in) }}; {# -#}
accepted is at most {{ limits.rejected_share }}; {{ spark_cdc._reject_lines(entity, ledger, load, entity.quarantine) | join('; ') }}
        {%- endset -%}
        {%- do tripped.update({'rejected_share': what}) -%}
    {%- endif -%}
    {%- for rule in entity.rules if rule.at_most is not none and 'rules' not in spark_cdc._skipped_guards(entity.name) -%}
        {%- set found = audit.rules[entity.rules.index(rule)] -%}
        {%- if found.judged >= limits.min_rows and found.broken > rule.at_most * found.judged -%}
            {%- set what -%}
{{ found.broken }} of {{ found.judged }} rows break {{ rule.name }} ({{ rule.condition }}): a share of {# -#}
{{ spark_cdc._three_digits(found.broken / found.judged) }}, accepted are {{ rule.at_most }}
            {%- endset -%}
            {%- do broken.append(what) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do tripped.update({'rules': broken | join('; ')}) if broken -%}
    {%- do tripped.update(spark_cdc._tripped_by_late_events(entity, load, (audit.get('record') or {}).get('events') or {})) -%}
    {%- if not tripped -%}
        {{ return('') }}
    {%- endif -%}
    {%- set lines = [] -%}
    {%- for guard, what in tripped.items() -%}{%- do lines.append(guard ~ ': ' ~ what) -%}{%- endfor -%}
    {%- set message -%}
{{ entity.name }}: {{ 'a guard stops' if tripped | length == 1 else 'guards stop' }} the load of {{ load.business_time }}.
    - {{ lines | join('\n    - ') }}
Nothing was committed. If the data is wrong, correct it and run the same command again. If it is right, override the guard this once {# -#}
(permanently: guards in the YAML of stg_{{ entity.name }}):
  {{ spark_cdc._skip_command(entity, load, tripped | list) }}
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, tripped | join(', '), message, load, audit) -%}
{%- endmacro -%}


{#- Guards on what a load would change: a dictionary from guard to what is wrong, in words. -#}
{%- macro _tripped_by_changes(entity, ledger, load, audit) -%}
    {%- set limits, counts = entity.guards, audit.counts -%}
    {%- set is_full = load.load_type == 'full' -%}
    {%- if is_full and not audit.rows_in and audit.rows_prior -%}
        {%- set what = 'the snapshot is empty, and all ' ~ audit.rows_prior ~ ' rows would be deleted' -%}
        {{ return({} if limits.empty is none else {'empty': what}) }}
    {%- elif not audit.rows_prior -%}
        {{ return({}) }}
    {%- endif -%}
    {%- set tripped, has_rows = {}, audit.rows_prior >= limits.min_rows -%}
    {%- for guard, operation, done in [('deleted_share', 'D', 'deleted'), ('updated_share', 'U', 'updated'), ('inserted_share', 'I', 'inserted')]
            if limits[guard] is not none and counts[operation] > limits[guard] * audit.rows_prior
            and (has_rows or (operation == 'D' and counts.D >= limits.min_deleted)) -%}
        {%- set what -%}
{{ counts[operation] }} of {{ audit.rows_prior }} rows would be {{ done }}: a share of {# -#}
{{ spark_cdc._three_digits(counts[operation] / audit.rows_prior) }}; accepted is at most {{ limits[guard] }}
    {%- if entity.key_columns -%}
        {%- set sql -%}
select {{ entity.key_columns | map(attribute='sql') | join(', ') }}
from {{ ledger }}
where load_id = '{{ load.load_id }}' and operation = '{{ operation }}'
limit 3
        {%- endset -%}
; for instance {{ spark_cdc._key_lines(entity, spark_cdc._query(sql)) | join('; ') }}
    {%- endif -%}
        {%- endset -%}
        {%- do tripped.update({guard: what}) -%}
    {%- endfor -%}
    {%- if is_full and has_rows and limits.rows_band is not none -%}
        {#- the median of the last five full loads; recent ones are not in cdc_loads yet -#}
        {%- set last = (spark_cdc._loads_with(load.keep, 'is_full') + spark_cdc._loads_with(load.keep, 'is_snapshot'))[-5:] -%}
        {%- set rows = audit.recent.items() | selectattr(0, 'in', last) | map(attribute=1) | list -%}
        {%- set logged, load_log = last | reject('in', audit.recent) | list, spark_cdc._load_log() -%}
        {%- if logged and load_log is not none -%}
            {%- set sql -%}
select rows_in
from {{ load_log }}
where entity = '{{ entity.name }}' and {{ spark_cdc._in_loads(logged) }}
            {%- endset -%}
            {%- do rows.extend(spark_cdc._query(sql) | map(attribute='rows_in') | reject('none') | map('int')) -%}
        {%- endif -%}
        {%- set rows, half = rows | sort, rows | length // 2 -%}
        {%- set median = 0 if not rows else rows[half] if rows | length is odd else (rows[half - 1] + rows[half]) / 2 -%}
        {%- if median and not limits.rows_band[0] * median <= audit.rows_in <= limits.rows_band[1] * median -%}
            {%- set what -%}
{{ audit.rows_in }} rows came in, {{ spark_cdc._three_digits(audit.rows_in / median) }} times the {{ median }} of the last {# -#}
{{ spark_cdc._counted(rows | length, 'load') }} (median); accepted are {{ limits.rows_band[0] }} to {{ limits.rows_band[1] }} times
            {%- endset -%}
            {%- do tripped.update({'rows_band': what}) -%}
        {%- endif -%}
    {%- endif -%}
    {{ return(tripped) }}
{%- endmacro -%}


{#- The guard on events that are not newer than what was applied, but differ from it, in the same
    form. Where the log has another name, or nobody can tell which of a row of a snapshot and a
    change is newer, it trips without a minimum. -#}
{%- macro _tripped_by_late_events(entity, load, events) -%}
    {%- set limit, different = entity.guards.late_share, events.get('late_different') or 0 -%}
    {%- set logs = (events.get('origins') or {}).get('log') -%}
    {%- set is_many = limit is not none and different and different > limit * events.known -%}
    {%- set doubtful, overtaken = events.get('doubtful_reads') or 0, events.get('overtaken') or 0 -%}
    {%- if limit is none or not (is_many or logs or doubtful or overtaken) -%}{{ return({}) }}{%- endif -%}
    {%- set reasons = [] -%}
    {%- if doubtful -%}
        {%- set what -%}
{{ spark_cdc._counted(doubtful, 'row') }} of a snapshot {{ 'differs' if doubtful == 1 else 'differ' }} from what is known of {# -#}
{{ 'its key' if doubtful == 1 else 'their keys' }}, and nothing tells whether the snapshot or a change is newer
        {%- endset -%}
        {%- do reasons.append(what) -%}
    {%- endif -%}
    {%- if overtaken -%}
        {%- set what -%}
changes of {{ spark_cdc._counted(overtaken, 'key') }} are of a transaction that may have been committed after the last snapshot, {# -#}
although it has an earlier place in the log
        {%- endset -%}
        {%- do reasons.append(what) -%}
    {%- endif -%}
    {%- if is_many -%}
        {%- set what -%}
{{ different }} of {{ events.known }} events of known keys are late and differ from what was applied: a share of {# -#}
{{ spark_cdc._three_digits(different / events.known) }}; accepted is at most {{ limit }}
        {%- endset -%}
        {%- do reasons.append(what) -%}
    {%- endif -%}
    {%- set before, now = load.applied.get('origin', {}).get('log'), (logs or {}) | map('string') | list -%}
    {%- do reasons.append("positions count in the log '" ~ now | join("', '") ~ "'" ~ (", before in '" ~ before ~ "'" if before else '') ~ ', and those of different logs can not be compared') if logs -%}
    {%- set last, applied = events.get('last'), load.applied.get('highest') -%}
    {%- do reasons.append('the last position is ' ~ last ~ ', and ' ~ applied ~ ' was applied before: the source may have restarted its positions') if is_many and last and applied and last < applied -%}
    {%- set full = 'spark-cdc load ' ~ load.business_time[:10] ~ ' --select ' ~ entity.name ~ ' --load-type full --position POSITION' -%}
    {%- if doubtful or overtaken -%}
        {%- do reasons.append('to take the values of the snapshot, load it as a full snapshot with its position (docs/snapshots.md): ' ~ full) -%}
        {%- do reasons.append('if the guard is overridden, these keys stay as the changes left them, which is right for rows of an earlier snapshot that came again') -%}
    {%- endif -%}
    {%- do reasons.append('after a restart of positions, load a full snapshot with its position; earlier positions do not count for it: '
        ~ full ~ ' --skip-guards ' ~ entity.name ~ '.late_share (docs/snapshots.md)') if is_many or logs -%}
    {{ return({'late_share': reasons | join('; ')}) }}
{%- endmacro -%}


