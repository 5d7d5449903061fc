{#- Takes loads back: readers see the state before them at once, since only the list of loads that
    count gets shorter. What is taken back stays in the ledger, and redo brings it back, until
    another load is committed or vacuum drops it. Each entity is a commit of its own; all are
    checked before the first is changed. The same command again goes on where one was interrupted.
        dbt run-operation spark_cdc.undo --args '{entities: [orders], to: 2024-03-02}'
    Arguments: entities (list of names, or one), to (the state to go back to: a load that counts,
    or a date, whose own load stays; none for the state before the last load, of one entity),
    execute (whether it is done; else it is only said). Returns nothing. -#}
{%- macro undo(entities, to=none, execute=true) -%}
    {%- do spark_cdc._check_arguments('undo', {'entities': entities, 'to': to, 'execute': execute}) -%}
    {%- do spark_cdc._undo_redo_entities('undo', entities, to) -%}
{%- endmacro -%}


{#- Brings back what the last undo took back, as it was: one commit per entity, all of which are
    checked before the first is changed. The same command again goes on where one was interrupted.
        dbt run-operation spark_cdc.redo --args '{entities: [orders]}'
    Arguments: entities (list of names, or one), execute as of undo(). Returns nothing. -#}
{%- macro redo(entities, execute=true) -%}
    {%- do spark_cdc._check_arguments('redo', {'entities': entities, 'execute': execute}) -%}
    {%- do spark_cdc._undo_redo_entities('redo', entities) -%}
{%- endmacro -%}


{#- Undo and redo: one commit per entity, whose manifest has what it did (move): {load_id (under
    which cdc_loads has it; kind u or r), at (when, UTC), loads (that went or came), rows_prior
    (rows before it), invocation_id}; and undone, a list of what redo brings back, the last first:
    {loads, at, figures (of the manifest with these loads, where they differ from those without)}.
    What is there
    already is not done again, so that the command can be repeated: the state to go back to; what a
    process committed that ended before it had dropped the claims before.
    Arguments: command (undo or redo), entities, to (of undo()). Prints a line of JSON: of each
    entity views_differ, whether its views may have to be altered. Returns nothing. -#}
{%- macro _undo_redo_entities(command, entities, to=none) -%}
    {%- set contexts = spark_cdc._contexts(command, entities) if entities else [] -%}
    {%- set problems, moves = [], [] -%}
    {%- if not contexts -%}
        {%- do problems.append('spark_cdc.' ~ command ~ ': entities is missing. Accepted are names of entities: spark-cdc ' ~ command ~ ' orders.') -%}
    {%- elif to is not none and not to | string | trim -%}
        {%- do problems.append('spark_cdc.undo: to is empty. Accepted are a load or a date: spark-cdc undo orders --to 2024-03-02.') -%}
    {%- elif command == 'undo' and to is none and contexts | length > 1 -%}
        {%- do problems.append('spark_cdc.undo: of several entities, name the state to go back to, so that the command can be repeated:\n  spark-cdc undo '
            ~ contexts | map(attribute='entity.name') | join(' ') ~ ' --to DATE') -%}
    {%- endif -%}
    {%- for ctx in contexts if not problems -%}
        {%- do spark_cdc._ensure_load_log(ctx.load_log) -%}
        {%- set timeline = spark_cdc._current_timeline(ctx) -%}
        {%- set is_moved = 'move' in timeline and '-' ~ command[0] ~ '-' in timeline.move.load_id -%}
        {%- set is_interrupted = is_moved and to is none and spark_cdc._numbers_beside(ctx) | select('lt', timeline.sequence) | list | length > 0 -%}
        {%- set is_there = is_interrupted or is_moved and command == 'redo' and not timeline.undone and contexts | length > 1 -%}
        {%- if is_there -%}
            {%- set found = {'loads': []} -%}
        {%- elif command == 'redo' -%}
            {%- set found = spark_cdc._loads_to_redo(ctx, timeline) -%}
        {%- elif not timeline.loads -%}
            {%- set found = {'problem': ctx.entity.name ~ ': nothing is committed, so there is nothing to undo.'} -%}
        {%- else -%}
            {%- set until = spark_cdc._loads_up_to(ctx, timeline.loads, to) -%}
            {%- set found = {'problem': until.problem} if until.problem else {'loads': timeline.loads[until.loads | length:]} -%}
        {%- endif -%}
        {%- set one = dict(ctx, timeline=timeline, **found) -%}
        {%- if found.get('loads') -%}
            {%- set move = {
                'load_id': found.loads[-1].split('-')[0] ~ '-' ~ command[0] ~ '-' ~ spark_cdc._run_id8(), 'at': spark_cdc._time_now(),
                'loads': found.loads, 'rows_prior': timeline.rows, 'invocation_id': invocation_id,
            } -%}
            {%- set next = spark_cdc._timeline_redone(timeline, move) if command == 'redo'
                else spark_cdc._timeline_undone(timeline, timeline.loads | length - found.loads | length, move) -%}
            {%- set next = spark_cdc._seen_as_declared(ctx.entity, timeline, next) -%}
            {%- set problem = spark_cdc._other_columns_problem(ctx, next) if next.loads else none -%}
            {%- set one = dict(one, manifest=next, **({'problem': problem} if problem else {})) -%}
        {%- endif -%}
        {%- do moves.append(one) -%}
    {%- endfor -%}
    {%- set problems = problems + moves | selectattr('problem', 'defined') | map(attribute='problem') | list -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error(problems | join('\n') ~ '\nNothing was changed, and readers see what they saw before.') -%}
    {%- endif -%}
    {%- set moved = [] -%}
    {%- for one in moves -%}
        {%- do moved.append({'entity': one.entity.name, 'views_differ': spark_cdc._undo_redo_entity(command, one)}) -%}
    {%- endfor -%}
    {%- do spark_cdc._print_data(moved) -%}
{%- endmacro -%}


{#- A manifest whose last load had other columns than the YAML, seen as the YAML declares them:
    under the layout of a load that has gone, or goes, and that had these columns. That layout
    holds for all loads before it. As it is where there is no such load. Arguments: entity,
    timeline (before the undo or redo), next (after it). -#}
{%- macro _seen_as_declared(entity, timeline, next) -%}
    {%- if not next.loads or spark_cdc._has_columns_of(entity, next.definition) -%}{{ return(next) }}{%- endif -%}
    {%- set gone = timeline.entries + timeline.undone | map(attribute='entries') | sum(start=[]) -%}
    {%- set seen = [timeline.seen] if timeline.get('seen') else [] -%}
    {%- for entry in gone | rejectattr('load_id', 'in', next.loads) -%}
        {%- do seen.append(entry) -%}
    {%- endfor -%}
    {%- for entry in seen if spark_cdc._has_columns_of(entity, entry.definition) -%}
        {%- if loop.last -%}{{ return(spark_cdc._timeline_seen(next, entry)) }}{%- endif -%}
    {%- endfor -%}
    {{ return(next) }}
{%- endmacro -%}


{#- Carries out the undo or redo of an entity. Argument: one (ctx with timeline, manifest and
    loads; without loads nothing is left to do). Returns whether views may have to be altered. -#}
{%- macro _undo_redo_entity(command, one) -%}
    {%- set name, timeline, next = one.entity.name, one.timeline, one.manifest -%}
    {%- if not one.loads -%}
        {%- do spark_cdc._drop_claims(one, timeline.sequence) -%}
        {%- do log(name ~ ': nothing is left to ' ~ command ~ '; readers see the state after ' ~ timeline.loads | last | default('nothing') ~ ', '
            ~ spark_cdc._counted(timeline.rows, 'row'), info=true) -%}
        {{ return('move' in timeline) }}
    {%- endif -%}
    {%- set count = spark_cdc._counted(one.loads | length, 'load') -%}
    {%- set say -%}
{%- set is_plan = spark_cdc._mode() == 'plan' -%}
{{ name }}: {{ 'would ' if is_plan }}{{ ('take' if is_plan else 'took') if command == 'undo' else 'bring' if is_plan else 'brought' }} back {{ count }} ({{ one.loads[0] ~ (' to ' ~ one.loads[-1] if one.loads | length > 1) }}); {# -#}
readers {{ 'would ' if is_plan }}see the state after {{ next.loads | last | default('nothing') }}, {{ spark_cdc._counted(next.rows, 'row') }}
{%- if command == 'undo' %}; spark-cdc redo {{ name }} brings {{ 'it' if one.loads | length == 1 else 'them' }} back, until the next load{% endif -%}
    {%- endset -%}
    {%- do spark_cdc._transact(one, {
        'manifest': next, 'before': timeline, 'what': command ~ ' of ' ~ count, 'is_move': true, 'rows': [spark_cdc._undo_redo_row(one, next)], 'say': say,
    }) -%}
    {{ return(timeline.definition != next.definition or spark_cdc._is_few(one.entity, timeline.log_rows) != spark_cdc._is_few(one.entity, next.log_rows)) }}
{%- endmacro -%}


{#- The loads that a redo brings back. Their rows are counted first: vacuum may have dropped them.
    Arguments: ctx, timeline (manifest). Returns a dictionary: problem (why it can't be, a text), or
    loads. -#}
{%- macro _loads_to_redo(ctx, timeline) -%}
    {%- set name = ctx.entity.name -%}
    {%- if not timeline.undone -%}
        {%- set problem -%}
{{ name }}: there is nothing to bring back. What was undone can be, until another load is committed, or vacuum drops it. To load {# -#}
the date again:
  spark-cdc load DATE {{ name }}
        {%- endset -%}
        {{ return({'problem': problem}) }}
    {%- endif -%}
    {%- set entries = timeline.undone[0].entries -%}
    {%- set loads, gone = entries | map(attribute='load_id') | list, [] -%}
    {%- set counted = spark_cdc._load_counts(ctx.ledger, loads, loads) -%}
    {%- for entry in entries -%}
        {%- set counts = counted.rows.get(entry.load_id, {}).items() -%}
        {%- set rows = counts | selectattr(0, 'in', spark_cdc._operations('visible')) | map(attribute=1) | sum -%}
        {%- do gone.append(entry.load_id) if entry.load_id not in counted.records or rows != entry.written -%}
    {%- endfor -%}
    {%- if gone -%}
        {%- set words = [] -%}
        {%- for time in spark_cdc._load_times(ctx.entity, loads) -%}{%- do words.append(spark_cdc._word(time)) -%}{%- endfor -%}
        {%- set problem -%}
{{ name }}: {{ gone | join(', ') }} can't be brought back: rows are missing in {{ ctx.ledger }}; vacuum drops loads that were {# -#}
undone. Load the dates again:
  spark-cdc load {{ words | join(' ') }} {{ name }}
        {%- endset -%}
        {{ return({'problem': problem}) }}
    {%- endif -%}
    {{ return({'loads': loads}) }}
{%- endmacro -%}
