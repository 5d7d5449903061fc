{#- What a load of a business date builds on, what it replaces and whether it is a checkpoint: a
    function of the manifest, the business time and the policy, which reads nothing.
    Arguments: entity, manifest (of _read_manifest()), time (datetime), reset (whether the ledger
    starts anew).
    Returns a dictionary: entity, load_id, version (number of the commit that it is written for),
    load_type, business_time (text), is_checkpoint, keep (loads that stay in the manifest), parent
    (load id or none), base (the checkpoint that the prior state begins with, or none), log (loads
    between it and this one), prior_rows (rows of the prior state), prior_log_rows (rows written
    since its checkpoint), replaced (load ids), applied (of change events: as of _timeline(),
    before this load), restarts (whether their positions begin anew), layout (of the loads before,
    see _layout()) and redefines (whether their definition is another: the load then is a
    checkpoint).
    Raises an error for a business date before the last load, and for one that compact has
    compacted with others. -#}
{%- macro _plan_load(entity, manifest, time, reset=false) -%}
    {%- set keep = [] if reset else spark_cdc._loads_with(manifest.loads, 'time', 'lt', time) -%}
    {%- set replaced = manifest.loads if reset else spark_cdc._loads_with(manifest.loads, 'time', 'equalto', time) -%}
    {%- set later = [] if reset else spark_cdc._loads_with(manifest.loads, 'time', 'gt', time) -%}
    {%- set text, times = spark_cdc._time_text(entity, time), spark_cdc._load_times(entity, replaced + later) -%}
    {%- set quoted = '"' ~ text ~ '"' if ' ' in text else text -%}
    {%- set problem -%}
        {%- if later -%}
{{ entity.name }}: {{ text }} is before the last load, {{ times[-1] }}; {{ spark_cdc._counted(times | length, 'load') }} from {{ times[0] }} {# -#}
to {{ times[-1] }} would have to be loaded again. Accepted are {{ times[-1] }} (the last load again), later dates, or a replay. {# -#}
Nothing was written. To replay the past (with dbt alone: docs/replay.md):
  spark-cdc replay {{ entity.name }} --from {{ quoted }}{{ '' if replaced else ' --dates ' ~ quoted }}
        {%- elif not reset and spark_cdc._loads_with(replaced, 'is_compacted') -%}
            {#- the last one only where an undo took back all that came after it -#}
{{ entity.name }}: {{ text }} is the last of the loads that compact has merged into one, which can be reloaded only together. {# -#}
Accepted are later dates, or a replay from the first of them on. Nothing was written.
  spark-cdc replay {{ entity.name }} --from DATE
        {%- endif -%}
    {%- endset -%}
    {%- if problem -%}{%- do exceptions.raise_compiler_error(problem) -%}{%- endif -%}

    {%- set state = spark_cdc._state_loads(keep) -%}
    {%- set before = spark_cdc._timeline_cut(manifest, keep | length) -%}
    {%- set policy = entity.checkpoint -%}
    {%- set redefines = keep | length > 0 and before.definition not in [none, spark_cdc._fingerprint(spark_cdc._definition(entity))] -%}
    {#- who skips late_share for a full snapshot says that its source numbers its events anew -#}
    {%- set restarts = (entity.events and entity.events.get('snapshot') or false) and 'late_share' in spark_cdc._skipped_guards(entity.name) -%}
    {%- set is_checkpoint = (
        not keep
        or restarts
        or redefines
        or state.log | length >= policy.loads
        or (before.log_rows > 0 and before.log_rows >= policy.rows)
        or (before.log_rows > 0 and before.log_rows >= policy.changed_share * before.rows)
    ) -%}
    {%- set load = {
        'entity': entity.name,
        'load_id': spark_cdc._load_id(entity, time, is_checkpoint),
        'version': manifest.sequence + 1,
        'load_type': entity.load_type,
        'business_time': spark_cdc._time_text(entity, time),
        'is_checkpoint': is_checkpoint,
        'keep': keep,
        'parent': keep[-1] if keep else none,
        'base': state.base,
        'log': state.log,
        'prior_rows': before.rows,
        'prior_log_rows': before.log_rows,
        'replaced': spark_cdc._loads_with(manifest.timeline_loads, 'time', 'equalto', time) if manifest.timeline_loads is defined else replaced,
        'layout': before.layout,
        'redefines': redefines,
    } -%}
    {%- if not entity.events -%}{{ return(load) }}{%- endif -%}
    {{ return(dict(load, applied={}, restarts=true) if restarts else dict(load, applied=before.applied)) }}
{%- endmacro -%}


{#- What the steps of a load share: the context (see _context()) with time (the business time),
    manifest (that it builds on) and load (its plan, of _plan_load()). dbt docs, compile and list
    have no business date, and a run without one loads nothing. A date that was loaded with
    another load type for once is not loaded anew with the entity's own by oversight: a full
    snapshot that is read as a delta deletes nothing, and a delta that is read as a full snapshot
    deletes what it lacks. Arguments: ctx, is_planned (whether a model of the entity has planned
    the load in this run: see _current_timeline()). -#}
{%- macro _planned_run(ctx, is_planned=false) -%}
    {%- set name, time, mode = ctx.entity.name, spark_cdc._business_time_of(ctx.entity.name), spark_cdc._mode() -%}
    {#- the schema is made by the first run that loads -#}
    {%- set is_empty = time is none or mode in ['look', 'plan'] and not spark_cdc._has_schema(ctx.schema) -%}
    {%- set manifest = spark_cdc._empty_manifest() if is_empty else spark_cdc._manifest_of_run(ctx, time, is_planned) -%}
    {%- set ctx = ctx if is_planned or time is none or ctx.entity.source.on_unexpected_column != 'add' else spark_cdc._with_new_columns(ctx, manifest, time) -%}
    {%- set load = spark_cdc._plan_load(
        ctx.entity, manifest, time or modules.datetime.datetime(1970, 1, 1), spark_cdc._is_reset(name)) -%}
    {%- set before = spark_cdc._load_types_of_names(load.replaced)[-1] if load.replaced and mode != 'look' else none -%}
    {%- if before not in [none, load.load_type]
            and not (spark_cdc._is_archive_replay() or spark_cdc._load_type_of_run(name) or spark_cdc._is_reset(name)) -%}
        {%- set message -%}
{{ name }}: {{ load.business_time }} was loaded with the load type {{ before }} ({{ load.replaced[-1] }}), and would now be loaded anew with {# -#}
{{ load.load_type }}, since this run says nothing. Nothing was written. Say which is meant, {{ before }} as before or {{ load.load_type }}:
  {{ spark_cdc._load_command(ctx.entity, load.business_time, load_type=before) }}
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {{ return(dict(ctx, time=time, manifest=manifest, load=load)) }}
{%- endmacro -%}


{#- A context whose entity has the automatically added columns: those of the loads that this one
    builds on, and those that its input has for the first time. The later models of the run know
    them, too.
    Arguments: ctx, manifest (of _manifest_of_run()), time. -#}
{%- macro _with_new_columns(ctx, manifest, time) -%}
    {%- set name, memo, kept = ctx.entity.name, spark_cdc._memo(), 'ctx ' ~ ctx.schema ~ '.' ~ ctx.entity.name -%}
    {%- set node = spark_cdc.entity_node(name) -%}
    {%- if memo.get('new columns of ' ~ kept) == time | string -%}{{ return(dict(ctx, entity=spark_cdc._entity(name))) }}{%- endif -%}
    {%- set load = spark_cdc._plan_load(ctx.entity, manifest, time, spark_cdc._is_reset(name)) -%}
    {%- set added = spark_cdc._timeline_cut(manifest, load.keep | length).added -%}
    {%- set entity = spark_cdc._entity_with(name, node, added) -%}
    {%- set reads = (spark_cdc._mode() == 'plan' or spark_cdc._is_loading(name) or flags.WHICH == 'show') and not spark_cdc._is_archive_replay() -%}
    {%- set new = spark_cdc._new_columns(entity, spark_cdc._input_of_load(dict(ctx, entity=entity), load), time) if reads else {} -%}
    {%- set entity = spark_cdc._entity_with(name, node, dict(added, **new)) if new else entity -%}
    {%- do memo.update(dict({'new columns of ' ~ kept: time | string}, **({kept: dict(memo[kept], entity=entity)} if kept in memo else {}))) -%}
    {%- if reads and entity.added -%}
        {%- set words = [] -%}
        {%- for column, data_type in entity.added.items() -%}{%- do words.append(column ~ ' ' ~ data_type ~ (' (new)' if column in new else '')) -%}{%- endfor -%}
        {%- do log(name ~ ': automatically added columns: ' ~ words | join(', ') ~ '. To declare them in the YAML:\n  spark-cdc new ' ~ name ~ ' --update', info=true) -%}
    {%- endif -%}
    {{ return(dict(ctx, entity=entity)) }}
{%- endmacro -%}


{#- The manifest that a run builds on: the last commit's, or in a replay that of the draft, to which
    the loads of a replay are added out of readers' sight (see _read_draft()). A draft begins as the
    last commit's manifest, cut before the first date of the replay, and so again if the loads that
    it would take the place of are no longer the same.
    Arguments: ctx, time (business time of the load at hand), is_planned (see _current_timeline()).
    Returns a dictionary as of _read_manifest(); of a draft also replay and timeline_loads (the
    loads that it was made from, the ones that compact merged by their own names). -#}
{%- macro _manifest_of_run(ctx, time, is_planned=false) -%}
    {%- set entity = ctx.entity -%}
    {%- set timeline = spark_cdc._current_timeline(ctx, is_planned) -%}
    {%- set replay = spark_cdc._replay() -%}
    {%- if replay is none -%}
        {{ return(timeline) }}
    {%- endif -%}
    {%- if not timeline.loads -%}
        {%- set message -%}
{{ entity.name }}: nothing is committed yet, so there is nothing to replay. Load the dates in order without spark_cdc_replay {# -#}
(spark-cdc load). Nothing was written.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- set first = spark_cdc._time_text(entity, replay['from']) -%}
    {%- set found = spark_cdc._read_draft(ctx) -%}
    {%- set outdated = spark_cdc._draft_outdated(found, timeline) -%}
    {%- set draft = found -%}
    {%- if not found.existed or outdated or found.replay['from'] != first or found.replay.source != replay.source -%}
        {%- if found.existed -%}
            {%- set reason = outdated or 'it was one from ' ~ found.replay['from'] ~ ', of the ' ~ found.replay.source -%}
            {%- do log(entity.name ~ ': the draft of a replay is begun anew: ' ~ reason, info=true) -%}
        {%- endif -%}
        {%- set draft = spark_cdc._manifest_before(ctx, timeline, replay['from']) -%}
    {%- endif -%}
    {%- if draft.loads and spark_cdc._load_time(draft.loads[-1]) > time -%}
        {%- set draft = spark_cdc._manifest_before(ctx, draft, time) -%}
    {%- endif -%}
    {{ return(dict(
        draft,
        existed=found.existed,
        replay={'from': first, 'source': replay.source, 'timeline': spark_cdc._draft_origin(timeline.loads)},
        timeline_loads=spark_cdc._loads_by_date(ctx, timeline.loads),
    )) }}
{%- endmacro -%}


{#- A manifest without its loads from a business time on. Loads that compact merged leave it
    together or not at all. -#}
{%- macro _manifest_before(ctx, manifest, time) -%}
    {%- set kept = spark_cdc._loads_with(manifest.loads, 'time', 'lt', time) -%}
    {%- set dropped = manifest.loads[kept | length:][:1] -%}
    {%- if not dropped -%}{{ return(manifest) }}{%- endif -%}
    {%- set entity, first = ctx.entity, spark_cdc._loads_by_date(ctx, dropped)[0] -%}
    {%- if spark_cdc._load_time(first) < time -%}
        {%- set message -%}
{{ entity.name }}: {{ spark_cdc._time_text(entity, time) }} lies among the loads that compact has merged into one, which can be rebuilt {# -#}
only together. Nothing was written. Accepted are {{ spark_cdc._load_time_text(entity, first) }} (the first of them) or earlier, and dates {# -#}
after {{ spark_cdc._load_time_text(entity, dropped[0]) }}.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {{ return(spark_cdc._timeline_cut(manifest, kept | length)) }}
{%- endmacro -%}


{#- The manifest after a load: what the next one builds on. Of change events the record tells how
    far they were applied: the highest position, that of the last truncate, up to where the change
    feed of a table was read, where the events were from (see _event_origins()), and whether the
    next load should stage only the last message of a key.
    Arguments: run (of _planned_run()), audit (of _audit_load()). -#}
{%- macro _next_manifest(run, audit) -%}
    {%- set load, record, applied = run.load, audit.record, {} -%}
    {%- if run.entity.events -%}
        {%- set events, feed = record.events, record.get('feed') or record.events.get('feed') -%}
        {%- do applied.update({'truncated': events.truncated, 'highest': events.highest}) -%}
        {%- set log = {'log': feed.log} if feed and feed.get('log') else {} -%}
        {%- do applied.update({'feed': dict({'id': feed.id, 'to': feed.to, 'offset': feed.offset}, **log)}) if feed -%}
        {%- do applied.update({'origin': events.origin}) if events.get('origin') -%}
        {%- do applied.update({'repeats': true}) if events.get('repeats') -%}
    {%- endif -%}
    {%- set next = spark_cdc._timeline_loaded(run.manifest, load.keep | length, {
        'load_id': load.load_id,
        'rows': audit.rows_current,
        'written': audit.written,
        'definition': spark_cdc._fingerprint(record.definition),
        'layout': record.get('layout') or {},
        'added': run.entity.added,
        'applied': applied,
    }) -%}
    {{ return(dict(next, secrets=dict(next.get('secrets') or {}, **record.secrets)) if record.get('secrets') else next) }}
{%- endmacro -%}
