{#- Which loads are squashed and what becomes of the list: a function of its arguments, which reads nothing. Arguments: loads (of the manifest),
    older_than_days, histories as of compact(), keep_loads (how many of the last are left as they are, at least 1). Returns a dictionary: squashed (loads that leave the manifest; none if there are not more than the two that would take
    their place), kept_before (earlier histories), kept_after, history and checkpoint (names of the new loads), base and log (of the state
    after the last squashed load), parent (load before the first squashed one, or none). -#}
{%- macro _plan_compaction(loads, older_than_days, histories, keep_loads=1) -%}
    {%- set squashed = [] -%}
    {%- set kept_before = [] -%}
    {%- set kept_after = [] -%}
    {%- for load_id in loads -%}
        {%- set age = (spark_cdc._load_time(loads[-1]).date() - spark_cdc._load_time(load_id).date()).days -%}
        {%- if loop.revindex <= keep_loads or age < older_than_days -%}
            {%- do kept_after.append(load_id) -%}
        {%- elif spark_cdc._load_kind(load_id).is_history and not histories -%}
            {%- do kept_before.append(load_id) -%}
        {%- else -%}
            {%- do squashed.append(load_id) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(spark_cdc._plan_compaction_of(kept_before, squashed, kept_after)) }}
{%- endmacro -%}


{%- macro _plan_compaction_of(kept_before, squashed, kept_after) -%}
    {%- set plan = {'kept_before': kept_before, 'kept_after': kept_after, 'parent': kept_before[-1] if kept_before else none} -%}
    {%- if squashed | length <= 2 -%}  {#- two loads would take their place -#}
        {{ return(dict(plan, squashed=[], base=none, log=[])) }}
    {%- endif -%}
    {%- set time = squashed[-1].split('-')[0] -%}
    {{ return(dict(
        plan,
        squashed=squashed,
        history=time ~ '-h-' ~ spark_cdc._attempt(),
        checkpoint=time ~ '-hc-' ~ spark_cdc._attempt(),
        **spark_cdc._state_loads(squashed)
    )) }}
{%- endmacro -%}


{#- Rows that were written under several definitions (docs/schema_change.md) don't go into one history, whose record could name only one
    of them: of the loads to be squashed those since the last change stay, which begin with a checkpoint. -#}
{%- macro _plan_compaction_of_one_definition(plan, records) -%}
    {%- set definition = records.get(plan.squashed[-1], {}).get('definition') -%}
    {%- set first = namespace(at=0) -%}
    {%- for load_id in plan.squashed if records.get(load_id, {}).get('definition') != definition -%}
        {%- set first.at = plan.squashed.index(load_id) + 1 -%}
    {%- endfor -%}
    {{ return(spark_cdc._plan_compaction_of(plan.kept_before + plan.squashed[:first.at], plan.squashed[first.at:], plan.kept_after)) }}
{%- endmacro -%}
