{#- A manifest without its loads from a business time on, as it was when the last of those that stay had been committed. Its figures
    are counted from the ledger; what the next load found before itself (applied) stands in that load's record. -#}
{%- macro _cut_manifest(capture, manifest, time) -%}
    {%- set kept = spark_cdc._loads_with(manifest.loads, 'time', 'lt', time) -%}
    {%- set dropped = manifest.loads | reject('in', kept) | list -%}
    {%- if not dropped -%}
        {{ return(manifest) }}
    {%- endif -%}
    {%- do spark_cdc._check_cut(capture, dropped[0], time) -%}
    {%- if not kept -%}
        {{ return(dict(spark_cdc._empty_manifest(), sequence=manifest.sequence)) }}
    {%- endif -%}

    {%- set state, before = spark_cdc._state_loads(kept), spark_cdc._state_loads(kept[:-1]) -%}
    {%- set needed = ([state.base, before.base] | select | list + state.log + before.log) | unique | list -%}
    {%- set counted = spark_cdc._load_counts(capture.masked, needed, kept[-2:] + dropped[:1]) -%}
    {%- set record = counted.records[kept[-1]] -%}
    {%- set parent = counted.records.get(kept[-2:][0], record) -%}
    {%- set changed = {} -%}
    {%- if parent.definition != record.definition -%}
        {%- do changed.update({'definition': spark_cdc._fingerprint(parent.definition), 'layout': parent.get('layout') or {}}) -%}
    {%- endif -%}
    {%- set cut = dict(
        manifest,
        loads=kept,
        definition=spark_cdc._fingerprint(record.definition),
        layout=record.get('layout') or {},
        previous=dict(spark_cdc._figures_of_state(counted.rows, before.base, before.log), **changed),
        **spark_cdc._figures_of_state(counted.rows, state.base, state.log)
    ) -%}
    {%- if not capture.entity.events -%}
        {{ return(cut) }}
    {%- endif -%}
    {{ return(dict(
        cut,
        applied=spark_cdc._applied_before(capture.entity, counted.records, kept[-1], dropped[0]),
        previous=dict(cut.previous, applied=record.get('applied') or {}),
    )) }}
{%- endmacro -%}


{#- The positions that had been applied after a load: what the next one found before itself, or what the load itself came to. -#}
{%- macro _applied_before(entity, records, last, next_one) -%}
    {%- set found = records[next_one].get('applied') -%}
    {%- if found is not none -%}
        {{ return(found) }}
    {%- endif -%}
    {%- if 'highest' not in (records[last].get('events') or {}) -%}
        {%- set message -%}
{{ entity.name }}: the position that had been applied before {{ next_one }} is not known, since loads on both sides were squashed. Nothing {# -#}
was written. Replay from an earlier date, or from before the first load.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {{ return(spark_cdc._applied_by(records[last])) }}
{%- endmacro -%}


{#- Loads that compact squashed leave the manifest together or not at all. -#}
{%- macro _check_cut(capture, load_id, time) -%}
    {%- set entity = capture.entity -%}
    {%- set first = spark_cdc._loads_by_date(capture.masked, [load_id])[0] if spark_cdc._load_kind(load_id).is_history else load_id -%}
    {%- if spark_cdc._load_time(first) < time -%}
        {%- set message -%}
{{ entity.name }}: {{ spark_cdc._time_text(entity, time) }} lies among the loads that compact has squashed into one, which can be rebuilt {# -#}
only together. Nothing was written. Accepted are {{ spark_cdc._load_time_text(entity, first) }} (the first of them) or earlier, and dates {# -#}
after {{ spark_cdc._load_time_text(entity, load_id) }}.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
{%- endmacro -%}
