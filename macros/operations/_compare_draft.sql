{#- Rows of history from the first date of the replay on that are in both or in one of the two. Arguments: found (of _drafted_captures()). -#}
{%- macro _compare_draft_history_sql(found) -%}
{%- set columns = spark_cdc._compare_draft_columns(found.entity) + ['operation', 'eff_start_date'] -%}
with changes as (
    {%- for relation, is_new in [(found.committed, 'false'), (found.replay, 'true')] %}
    select
        {{ columns | join(',\n        ') }},
        {{ is_new }} as is_new
    from {{ relation }}
    where
        operation in {{ spark_cdc._operations('changes') }}
        and eff_start_date >= {{ spark_cdc._time_literal(found.entity, spark_cdc._business_time(found.draft.replay['from'])) }}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
),

counted as (
    select
        {{ columns | join(',\n        ') }},
        count_if(not is_new) as old_rows,
        count_if(is_new) as new_rows
    from changes
    group by {{ columns | join(', ') }}
)

select
    cast(eff_start_date as string) as business_time,
    {%- for operation in ['I', 'U', 'D'] %}
    sum(if(operation = '{{ operation }}', old_rows, 0)) as old_{{ operation | lower }},
    sum(if(operation = '{{ operation }}', new_rows, 0)) as new_{{ operation | lower }},
    {%- endfor %}
    sum(greatest(old_rows - new_rows, 0)) as gone,
    sum(greatest(new_rows - old_rows, 0)) as come
from counted
group by eff_start_date
order by eff_start_date
{%- endmacro -%}


{#- Rows of the current state that are in one of the two only, or differ. -#}
{%- macro _compare_draft_state_sql(found, head) -%}
{%- set columns = spark_cdc._compare_draft_columns(found.entity) + ['eff_start_date'] -%}
{%- set values = columns | reject('in', ['key_hash', 'eff_start_date']) | list -%}
with before as (
    {{ spark_cdc._state_sql(found.committed, 'in_base', 'in_log', columns, spark_cdc._is_few(found.entity, head.log_rows)) | indent(4) }}
),

after as (
    {{ spark_cdc._state_sql(found.replay, 'in_base', 'in_log', columns, spark_cdc._is_few(found.entity, found.draft.log_rows)) | indent(4) }}
)

select
    count_if(after.key_hash is null) as gone,
    count_if(before.key_hash is null) as come,
    count_if(
        before.key_hash = after.key_hash
        and not (
            {%- for name in values %}
            {{ 'and ' if not loop.first }}before.{{ name }} <=> after.{{ name }}
            {%- endfor %}
        )
    ) as other_values,
    count_if(
        before.key_hash = after.key_hash
        {%- for name in values %}
        and before.{{ name }} <=> after.{{ name }}
        {%- endfor %}
        and before.eff_start_date <> after.eff_start_date
    ) as other_dates,
    count(before.key_hash) as old_rows,
    count(after.key_hash) as new_rows
from before
full outer join after
    on before.key_hash = after.key_hash
{%- endmacro -%}


{#- The hashes stand for all values. -#}
{%- macro _compare_draft_columns(entity) -%}
    {{ return(['key_hash', 'nonkey_hash'] + (['ignored_hash'] if entity.ignored else [])) }}
{%- endmacro -%}


{#- Both in words. Arguments: found, head (manifest of the last commit), history and state (what the two queries found). -#}
{%- macro _compare_draft_text(found, head, history, state) -%}
    {%- set entity = found.entity -%}
    {%- set by_time = {} -%}
    {%- for row in history -%}
        {%- do by_time.update({spark_cdc._time_text(entity, spark_cdc._business_time(row.business_time)): row}) -%}
    {%- endfor -%}
    {%- set drafted = spark_cdc._draft_times(entity, found.draft) -%}
    {%- set committed = spark_cdc._load_times(entity, spark_cdc._loads_by_date(found.masked, head.loads)) -%}
    {%- set width = 13 if entity.eff_type == 'date' else 19 -%}
    {%- set differing = state.gone | int + state.come | int + state.other_values | int + state.other_dates | int -%}
{{ entity.name }}: replay from {{ found.draft.replay['from'] }}, from the {{ found.draft.replay.source }}; {# -#}
{{ spark_cdc._counted(drafted | length, 'load') }}
  {{ 'business date'.ljust(width) }}   I before  after   U before  after   D before  after   rows that differ
{%- for time in (drafted + by_time | list) | unique | sort %}
    {%- set row = by_time.get(time, {}) -%}
    {%- set gone, come = (row.get('gone') or 0) | int, (row.get('come') or 0) | int %}
  {{ time.ljust(width) }}
    {%- for name in ['old_i', 'new_i', 'old_u', 'new_u', 'old_d', 'new_d'] -%}
        {{ ((row.get(name) or 0) | string).rjust(11 if name.startswith('old') else 7) }}
    {%- endfor %}   {{ gone ~ ' go, ' ~ come ~ ' come' if gone or come else 'none' }}
    {{- '' if time in drafted else '  (not in the draft yet)' }}{{ '' if time in committed else '  (new date)' }}
{%- endfor %}
  current: {{ state.old_rows }} rows before, {{ state.new_rows }} after; {{ differing }} differ: {{ state.gone }} go, {{ state.come }} come, {# -#}
{{ state.other_values }} with other values, {{ state.other_dates }} with another eff_start_date only
{%- endmacro -%}
