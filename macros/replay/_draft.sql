{#- The manifest that a run builds on: the last commit's, or in a replay that of the draft, to which the loads of a replay are added
    out of readers' sight. The draft is the text of the view <entity>_replay, in the form of <entity>_committed; `replay` in its figures
    says what it is a draft of. It begins as the last commit's manifest, cut before the first date of the replay, and so again if the loads
    that it would take the place of are no longer the same.
    Arguments: entity, committed (relation of the view), time (business time of the load at hand). Returns a dictionary as of
    read_manifest(); of a draft also replay {from, source, head: number and fingerprint of the committed loads it was made from} and
    head_loads (those loads, the ones that compact squashed by their own names). -#}
{%- macro _manifest_of_run(entity, committed, time) -%}
    {%- set head = spark_cdc._head(committed, entity.name) -%}
    {%- set replay = spark_cdc._replay() -%}
    {%- if replay is none -%}
        {{ return(head) }}
    {%- endif -%}
    {%- if not head.loads -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': nothing is committed yet, so there is nothing to replay. Load the dates in order without spark_cdc_replay '
            ~ '(spark-cdc load). Nothing was written.'
        ) %}
    {%- endif -%}
    {%- set ledger = spark_cdc._relation_in(committed.schema, entity.name ~ '_ledger') -%}
    {%- set first = spark_cdc._time_text(entity, replay['from']) -%}
    {%- set draft = spark_cdc._read_draft(committed, entity.name) -%}
    {%- set outdated = spark_cdc._outdated(draft, head) -%}
    {%- set existed = draft.existed -%}
    {%- if not existed or outdated or draft.replay['from'] != first or draft.replay.source != replay.source -%}
        {%- if existed -%}
            {%- do log(entity.name ~ ': the draft of a replay is begun anew: ' ~ (outdated or 'it was one from ' ~ draft.replay['from'] ~ ', of the '
                ~ draft.replay.source), info=true) -%}
        {%- endif -%}
        {%- set draft = spark_cdc._cut_manifest(entity, ledger, head, replay['from']) -%}
    {%- endif -%}
    {%- if draft.loads and spark_cdc._load_time(draft.loads[-1]) > time -%}
        {%- set draft = spark_cdc._cut_manifest(entity, ledger, draft, time) -%}
    {%- endif -%}
    {%- do draft.update({
        'existed': existed,
        'replay': {'from': first, 'source': replay.source, 'head': [head.loads | length, spark_cdc._loads_fingerprint(head.loads)]},
        'head_loads': spark_cdc._loads_by_date(ledger, head.loads),
    }) -%}
    {{ return(draft) }}
{%- endmacro -%}


{#- The draft of an entity, or an empty manifest. -#}
{%- macro _read_draft(committed, name) -%}
    {%- set view = spark_cdc._relation_in(committed.schema, name ~ '_replay') -%}
    {%- if not spark_cdc._query('show views in ' ~ committed.without_identifier() ~ ' like ' ~ spark_cdc._literal(view.identifier)) -%}
        {{ return(spark_cdc._empty_manifest()) }}
    {%- endif -%}
    {%- set draft = spark_cdc._parse_manifest(spark_cdc._view_text(view), view) -%}
    {%- if 'replay' not in draft -%}
        {% do exceptions.raise_compiler_error(
            name ~ ': ' ~ view ~ ' is not the draft of a replay, but a replay needs that name. Nothing was written. Rename it.'
        ) %}
    {%- endif -%}
    {{ return(draft) }}
{%- endmacro -%}


{#- Whether a draft may no longer take the place of what is committed: why not, or an empty text. Loads that were added since are
    no reason, the draft only lacks them yet. -#}
{%- macro _outdated(draft, head) -%}
    {%- if not draft.existed -%}
        {{ return('') }}
    {%- endif -%}
    {%- set made_from = draft.replay.head -%}
    {%- if head.loads | length >= made_from[0] and spark_cdc._loads_fingerprint(head.loads[:made_from[0]]) == made_from[1] -%}
        {{ return('') }}
    {%- endif -%}
    {{ return('since it was made, another run has committed other loads in the place of those that it rebuilds (commit ' ~ head.sequence ~ ', last load '
        ~ (head.loads[-1] or 'none') ~ ')') }}
{%- endmacro -%}


{%- macro _loads_fingerprint(loads) -%}{{ return(local_md5(loads | join(','))[:8]) }}{%- endmacro -%}


{#- Loads that compact has squashed are listed by their own names, in the place of what stands for them. -#}
{%- macro _loads_by_date(ledger, loads) -%}
    {%- set squashed = [] -%}
    {%- for load_id in loads if spark_cdc._is_history(load_id) -%}{%- do squashed.append(load_id) -%}{%- endfor -%}
    {%- set records = spark_cdc._load_records(ledger, squashed) if squashed else {} -%}
    {%- set listed = [] -%}
    {%- for load_id in loads -%}
        {%- if load_id in squashed -%}
            {%- do listed.extend(records[load_id].squashed) -%}
        {%- elif not spark_cdc._is_squashed(load_id) -%}
            {%- do listed.append(load_id) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(listed) }}
{%- endmacro -%}


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
        ~ ' and operation in ' ~ spark_cdc.operations('visible') ~ ' group by load_id, operation'
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


{#- Adds a load to the draft: <entity>_replay is altered, and nothing else. -#}
{%- macro _write_draft(entity, committed, text, manifest, load, audit) -%}
    {%- if audit.record.replaced != load.replaced -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': another run committed ' ~ load.business_time ~ ' anew while the replay read it. Nothing was committed and readers see what '
            ~ 'they saw before. Run the same command again.'
        ) %}
    {%- endif -%}
    {%- call statement('main') -%}
        {{ spark_cdc._replace_view_sql(spark_cdc._relation_in(committed.schema, entity.name ~ '_replay'), text, manifest.existed) }}
    {%- endcall -%}
    {%- do log(spark_cdc._load_summary(load, audit) ~ ' in the draft', info=true) -%}
{%- endmacro -%}
