{#- Which loads are squashed and what becomes of the list: a function of its arguments, which reads nothing. Returns a
    dictionary: squashed (loads that leave the manifest; none if there are not more than the two that would take
    their place), kept_before
    (earlier histories), kept_after, history and checkpoint (names of the new loads), base and log (of the state after the
    last squashed load), parent (load before the first squashed one, or none). -#}
{%- macro _plan_compaction(entity, loads, older_than_days, histories) -%}
    {%- set plan = {'squashed': [], 'kept_before': [], 'kept_after': [], 'base': none, 'log': []} -%}
    {%- if loads | length < 2 -%}{{ return(plan) }}{%- endif -%}
    {%- set last_date = spark_cdc._load_time(loads[-1]).date() -%}
    {%- for load_id in loads -%}
        {%- set age = (last_date - spark_cdc._load_time(load_id).date()).days -%}
        {%- if loop.last or age < older_than_days -%}
            {%- do plan.kept_after.append(load_id) -%}
        {%- elif spark_cdc._is_history(load_id) and not histories -%}
            {%- do plan.kept_before.append(load_id) -%}
        {%- else -%}
            {%- do plan.squashed.append(load_id) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if plan.squashed | length <= 2 -%}  {#- two loads would take their place -#}
        {%- do plan.update({'squashed': []}) -%}
        {{ return(plan) }}
    {%- endif -%}
    {%- set state = spark_cdc._state_loads(plan.squashed) -%}
    {%- set name = plan.squashed[-1].split('-')[0] -%}
    {%- set attempt = local_md5(invocation_id)[:8] -%}
    {%- do plan.update({
        'history': name ~ '-h-' ~ attempt,
        'checkpoint': name ~ '-hc-' ~ attempt,
        'base': state.base,
        'log': state.log,
        'parent': plan.kept_before[-1] if plan.kept_before else none,
    }) -%}
    {{ return(plan) }}
{%- endmacro -%}


{#- Rows that were written under several definitions (docs/schema_change.md) don't go into one history, whose record could name only one
    of them: of the loads to be squashed those since the last change stay, which begin with a checkpoint. -#}
{%- macro _keep_to_one_definition(plan, records) -%}
    {%- set definition = records.get(plan.squashed[-1], {}).get('definition') -%}
    {%- set first = namespace(at=0) -%}
    {%- for load_id in plan.squashed if records.get(load_id, {}).get('definition') != definition -%}
        {%- set first.at = plan.squashed.index(load_id) + 1 -%}
    {%- endfor -%}
    {%- do plan.kept_before.extend(plan.squashed[:first.at]) -%}
    {%- set rest = plan.squashed[first.at:] -%}
    {%- set state = spark_cdc._state_loads(rest) -%}
    {%- do plan.update({
        'squashed': rest if rest | length > 2 else [],
        'base': state.base,
        'log': state.log,
        'parent': plan.kept_before[-1] if plan.kept_before else none,
    }) -%}
{%- endmacro -%}
