{#- A manifest without its loads from a business time on, as it was when the last of those that stay had been committed. Its figures
    are counted from the ledger; what the next load found before itself (applied) stands in that load's record. -#}
{%- macro _cut_manifest(entity, ledger, manifest, time) -%}
    {%- set kept = [] -%}
    {%- set dropped = [] -%}
    {%- for load_id in manifest.loads -%}
        {%- do (kept if spark_cdc._load_time(load_id) < time else dropped).append(load_id) -%}
    {%- endfor -%}
    {%- set cut = dict(manifest) -%}
    {%- if not dropped -%}
        {{ return(cut) }}
    {%- elif not kept -%}
        {%- do cut.update(spark_cdc._empty_manifest()) -%}
        {%- do cut.update({'sequence': manifest.sequence}) -%}
        {%- for name in ['applied', 'layout'] -%}{%- do cut.pop(name, none) -%}{%- endfor -%}
        {%- do spark_cdc._check_cut(entity, ledger, dropped, time) -%}
        {{ return(cut) }}
    {%- endif -%}
    {%- do spark_cdc._check_cut(entity, ledger, dropped, time) -%}

    {%- set needed = [] -%}
    {%- set state = spark_cdc._state_loads(kept) -%}
    {%- set state_before = spark_cdc._state_loads(kept[:-1]) -%}
    {%- for state in [state, state_before] -%}
        {%- do needed.extend(([state.base] if state.base else []) + state.log) -%}
    {%- endfor -%}
    {%- set rows = {} -%}
    {%- for row in spark_cdc._query(
        'select load_id, operation, count(*) as row_count from ' ~ ledger ~ ' where ' ~ spark_cdc._in_loads(needed | unique | list)
        ~ ' and operation in ' ~ spark_cdc._operations('visible') ~ ' group by load_id, operation'
    ) -%}
        {%- do rows.setdefault(row.load_id, {}).update({row.operation: row.row_count | int}) -%}
    {%- endfor -%}
    {%- set records = spark_cdc._load_records(ledger, [kept[-1], dropped[0]]) -%}
    {%- set figures = spark_cdc._figures_of_state(rows, state.base, state.log) -%}
    {%- do cut.update({
        'loads': kept,
        'rows': figures.rows,
        'log_rows': figures.log_rows,
        'previous': spark_cdc._figures_of_state(rows, state_before.base, state_before.log),
        'definition': local_md5(tojson(records[kept[-1]].definition, sort_keys=true)),
    }) -%}
    {%- if 'layout' in records[kept[-1]] -%}
        {%- do cut.update({'layout': records[kept[-1]].layout}) -%}
    {%- endif -%}
    {%- if entity.events -%}
        {%- do cut.update({'applied': spark_cdc._applied_before(entity, records, kept[-1], dropped[0])}) -%}
        {%- do cut.previous.update({'applied': records[kept[-1]].get('applied') or {}}) -%}
    {%- endif -%}
    {{ return(cut) }}
{%- endmacro -%}


{#- The positions that had been applied after a load: what the next one found before itself, or what the load itself came to. -#}
{%- macro _applied_before(entity, records, last, next_one) -%}
    {%- set found = records[next_one].get('applied') -%}
    {%- if found is none -%}
        {%- set events = records[last].get('events') or {} -%}
        {%- if 'highest' not in events -%}
            {% do exceptions.raise_compiler_error(
                entity.name ~ ': the position that had been applied before ' ~ next_one ~ ' is not known, since loads on both sides were squashed. '
                ~ 'Nothing was written. Replay from an earlier date, or from before the first load.'
            ) %}
        {%- endif -%}
        {%- set found = {'truncated': events.truncated, 'highest': events.highest} -%}
    {%- endif -%}
    {{ return(found) }}
{%- endmacro -%}


{#- Loads that compact squashed leave the manifest together or not at all. -#}
{%- macro _check_cut(entity, ledger, dropped, time) -%}
    {%- if not spark_cdc._is_history(dropped[0]) -%}
        {{ return('') }}
    {%- endif -%}
    {%- set first = spark_cdc._loads_by_date(ledger, dropped[:1])[0] -%}
    {%- if spark_cdc._load_time(first) < time -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': ' ~ spark_cdc._time_text(entity, time) ~ ' lies among the loads that compact has squashed into one, which can be rebuilt '
            ~ 'only together. Nothing was written. Accepted are ' ~ spark_cdc._time_text(entity, spark_cdc._load_time(first)) ~ ' (the first of them) or '
            ~ 'earlier, and dates after ' ~ spark_cdc._time_text(entity, spark_cdc._load_time(dropped[0])) ~ '.'
        ) %}
    {%- endif -%}
{%- endmacro -%}
