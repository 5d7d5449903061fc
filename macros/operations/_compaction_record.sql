{#- The record of one of the two loads. squashed lists the loads that readers saw, also those that earlier histories
    stand for, and commits by which of them they came (see _commits()); the checkpoint's stands_for is the last of them, which is the parent of the load that follows. Of change
    events applied is what had been applied before, as in each load's record; feeds is what each of them read of a change feed, for replays. -#}
{%- macro _compaction_record(entity, plan, records, figures, is_checkpoint, commits=[]) -%}
    {%- set squashed, feeds = [], {} -%}
    {%- set events = {'event_count': 0, 'late': 0, 'controls': 0, 'unexpected': 0, 'unfilled': 0} -%}
    {%- for load_id in plan.squashed -%}
        {%- set record, kind = records[load_id], spark_cdc._load_kind(load_id) -%}
        {%- if kind.is_history or not kind.is_squashed -%}
            {%- do squashed.extend(record.squashed if kind.is_history else [load_id]) -%}
            {%- do feeds.update(record.get('feeds', {}) if kind.is_history else {load_id: record.feed} if record.get('feed') else {}) -%}
            {%- for name in events if record.get('events') and not is_checkpoint -%}
                {%- do events.update({name: events[name] + (record.events.get(name) or 0)}) -%}
            {%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set came = [] -%}
    {%- for commit in commits -%}{%- do came.append(dict(commit.items() | rejectattr(0, 'equalto', 'written_as'))) -%}{%- endfor -%}
    {%- set last = records[plan.squashed[-1]] -%}
    {%- set record = {
        'entity': entity.name,
        'load_id': plan.checkpoint if is_checkpoint else plan.history,
        'load_type': 'compact',
        'business_time': last.business_time,
        'is_checkpoint': is_checkpoint,
        'parent': plan.history if is_checkpoint else plan.parent,
        'base': none,
        'log': [],
        'prior_rows': figures.rows_after if is_checkpoint else figures.rows_prior,
        'replaced': [] if is_checkpoint else plan.squashed,
        'squashed': [] if is_checkpoint else squashed,
        'commits': came,
        'stands_for': squashed[-1],
        'definition': last.definition,
        'layout': last.get('layout') or {},
    } -%}
    {%- do record.update(spark_cdc._run_of_load()) -%}
    {%- if not entity.events -%}
        {{ return(record) }}
    {%- endif -%}
    {%- set before = records[plan.squashed[0]].get('applied') or {} -%}
    {%- set after = records[plan.kept_after[0]].get('applied') or {} -%}
    {{ return(dict(
        record,
        applied=after if is_checkpoint else before,
        events=dict(events, truncated=after.get('truncated'), highest=after.get('highest'), feed=after.get('feed'), origin=after.get('origin')),
        feeds={} if is_checkpoint else feeds,
    )) }}
{%- endmacro -%}
