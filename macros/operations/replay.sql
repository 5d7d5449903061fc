{#- Makes the draft of a replay visible: one commit per entity, after which readers see the new
    state, and cdc_loads gets a row for each of its loads. Drafts that lack a date, or were made
    from loads that somebody else has replaced since, are refused, before any is published.
        dbt run-operation spark_cdc.publish_replay --args '{entities: [orders]}'
    Arguments: entities (list of names, or one; none for all that have a draft), execute (whether it
    is done; else it is only said). Returns nothing. -#}
{%- macro publish_replay(entities=none, execute=true) -%}
    {%- do spark_cdc._check_arguments('publish_replay', {'entities': entities, 'execute': execute}) -%}
    {%- set drafted = [] -%}
    {%- set problems = [] -%}
    {%- for found in spark_cdc._contexts_with_drafts('publish_replay', entities) -%}
        {%- set timeline = spark_cdc._current_timeline(found) -%}
        {%- set problem = spark_cdc._draft_problem(found, timeline) -%}
        {%- do problems.append(problem) if problem else drafted.append((found, timeline)) -%}
    {%- endfor -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error(problems | join('\n') ~ '\nNothing was published and readers see what they saw before.') -%}
    {%- endif -%}
    {%- for found, timeline in drafted -%}
        {%- set first = found.draft.replay['from'] -%}
        {%- set manifest = spark_cdc._timeline_replayed(timeline, found.draft) -%}
        {%- do spark_cdc._ensure_load_log(found.load_log) -%}
        {%- if manifest.loads != timeline.loads -%}
            {#- else it was published by a run that ended before it dropped the draft -#}
            {%- set times = spark_cdc._draft_times(found.entity, found.draft) -%}
            {%- do spark_cdc._transact(found, {
                'manifest': manifest, 'before': timeline, 'what': 'the replay from ' ~ first, 'rows': spark_cdc._missing_rows(found, manifest, now=true),
                'say': found.entity.name ~ ': published the replay from ' ~ first ~ ': ' ~ spark_cdc._counted(times | length, 'load')
                    ~ ' up to ' ~ times[-1] ~ '; ' ~ manifest.rows ~ ' rows now' ~ ('; redo has nothing left to bring back' if timeline.undone else ''),
            }) -%}
        {%- endif -%}
        {%- do spark_cdc._drop_view(found.replay) -%}
    {%- endfor -%}
{%- endmacro -%}


{#- Drops the draft of a replay. What its loads wrote is named nowhere then, and costs disk until it
    is cleaned up.
        dbt run-operation spark_cdc.discard_replay --args '{entities: [orders]}'
    Arguments: entities (list of names, or one; none for all that have a draft), execute (whether it
    is done; else it is only said). Returns nothing. -#}
{%- macro discard_replay(entities=none, execute=true) -%}
    {%- do spark_cdc._check_arguments('discard_replay', {'entities': entities, 'execute': execute}) -%}
    {%- for found in spark_cdc._contexts_with_drafts('discard_replay', entities) -%}
        {%- if found.draft.existed -%}
            {%- do spark_cdc._drop_view(found.replay) -%}
            {%- do spark_cdc._say(found.entity.name ~ ': discarded the draft of the replay from ' ~ found.draft.replay['from'] ~ ' with '
                ~ (spark_cdc._draft_times(found.entity, found.draft) | length) ~ ' loads; readers saw none of it') -%}
        {%- else -%}
            {%- do log(found.entity.name ~ ': has no draft of a replay', info=true) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}


{#- A part of state(): how the draft of a replay differs from what readers see. Returns none without
    a draft, else a dictionary: dates (by business time, the rows of history before and after, I, U
    and D, and how many come and go), current (counts of rows of the current state), problem (why
    the draft can't be published, or none). -#}
{%- macro _state_compare(ctx) -%}
    {%- if not ctx.draft.existed -%}{{ return(none) }}{%- endif -%}
    {#- a replay may be the repair of files that can't be read -#}
    {%- do spark_cdc._read_despite_damage() -%}
    {%- set dates, current = {}, {} -%}
    {%- for row in spark_cdc._query(spark_cdc._compare_draft_history_sql(ctx)) -%}
        {%- set counts = {} -%}
        {%- for name, count in row.items() if name != 'business_time' -%}{%- do counts.update({name: count | int}) -%}{%- endfor -%}
        {%- do dates.update({spark_cdc._time_text(ctx.entity, spark_cdc._business_time(row.business_time)): counts}) -%}
    {%- endfor -%}
    {%- for name, count in spark_cdc._query(spark_cdc._compare_draft_state_sql(ctx))[0].items() -%}{%- do current.update({name: count | int}) -%}{%- endfor -%}
    {%- do spark_cdc._note_unread_rejects(ctx, ctx.draft.loads | reject('in', ctx.timeline.loads) | list) -%}
    {%- do current.update({'old_rows': ctx.timeline.rows, 'new_rows': ctx.draft.rows}) -%}
    {{ return({'dates': dates, 'current': current, 'problem': spark_cdc._draft_problem(ctx, ctx.timeline) | trim or none}) }}
{%- endmacro -%}


{#- Rows of history from the first date of the replay on that are in both or in one of the two.
    Argument: found (ctx with draft). -#}
{%- macro _compare_draft_history_sql(found) -%}
{%- set columns = spark_cdc._payload_hashes(found.entity) + ['operation', 'eff_start_date'] -%}
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


{#- Rows of the current state that are in one of the two only, or differ. What both have alike is
    not read: how many rows there are the manifests say. -#}
{%- macro _compare_draft_state_sql(found) -%}
{%- set entity = found.entity -%}
{%- set values = spark_cdc._payload_hashes(entity)[1:] -%}
with {{ spark_cdc._compared_loads_ctes(
    spark_cdc._across_changes(entity, found.public, found.draft.layout), found.timeline.loads, found.draft.loads, values[1:],
    spark_cdc._operations('visible' if entity.untracked else 'changes')) }}

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
    ) as other_dates
from (select * from states where not cdc__is_after and operation <> 'D') as before
full outer join (select * from states where cdc__is_after and operation <> 'D') as after
    on before.key_hash = after.key_hash
{%- endmacro -%}


{#- Why a draft can't be published, with what to do; an empty text if it can. -#}
{%- macro _draft_problem(found, timeline) -%}
    {%- set name, is_ours = found.entity.name, spark_cdc._is_of_command_line() -%}
    {%- set fill = (found.draft.get('replay') or {}).get('fill') -%}
    {%- if not found.draft.existed -%}
{{ name }}: there is no draft of a replay. Begin one{{ ', with each date in order' if not is_ours }}:
  {{ spark_cdc._load_command(found.entity, none, replay={'from': 'DATE'}) }}
    {%- elif found.draft.loads != timeline.loads -%}
        {%- set first = found.draft.replay['from'] -%}
        {%- set outdated = spark_cdc._draft_outdated(found.draft, timeline) -%}
        {%- set times = spark_cdc._draft_times(found.entity, found.draft, spark_cdc._loads_by_date(found, found.draft.loads)) -%}
        {%- set missing = spark_cdc._draft_times(found.entity, found.draft, spark_cdc._loads_by_date(found, timeline.loads)) | reject('in', times) | list -%}
        {%- if fill and (outdated or missing) -%}
{{ name }}: other loads have been committed since the draft, which fills {{ fill }}, was made from those before. Make it anew:
  spark-cdc replay {{ name }} --fill {{ spark_cdc._word(fill) }} --from {{ spark_cdc._word(first) }} --rebuild
        {%- elif outdated -%}
{{ name }}: the draft of the replay from {{ first }} is out of date: {{ outdated }}. Publishing it would undo that. Run the replay again, it {# -#}
begins anew{{ ' (each date in order)' if not is_ours }}:
  {{ spark_cdc._load_command(found.entity, none, replay={'from': first}) }}
        {%- elif missing -%}
{{ name }}: the draft of the replay from {{ first }} lacks {{ spark_cdc._counted(missing | length, 'date') }} that it would take the place {# -#}
of: {{ missing[:10] | join(', ') }}{{ ' and so on' if missing | length > 10 }}. Load them into it in order, then publish:
  {{ spark_cdc._load_command(found.entity, none if is_ours else missing[0], replay={'from': first}) }}
        {%- endif -%}
    {%- endif -%}
{%- endmacro -%}
