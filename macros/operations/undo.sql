{#- Takes loads back: readers see the state before them at once, since only the list of loads that count gets shorter. What is taken back
    stays in the ledger, and redo brings it back, until another load is committed or vacuum drops it. All entities are checked before the
    first is changed; where one can't be undone, none is. The same command again finishes one that was interrupted.
        dbt run-operation spark_cdc.undo --args '{entities: [orders], to: 2024-03-02}'
    Arguments: entities (list of names, or one), to (the state to go back to: a load that counts, or a date, whose own load stays; none for
    the state before the last load). Returns nothing. -#}
{%- macro undo(entities, to=none) -%}
    {%- do spark_cdc._check_arguments('undo', {'entities': entities, 'to': to}) -%}
    {%- do spark_cdc._move_heads('undo', entities, to) -%}
{%- endmacro -%}


{#- Brings back what the last undo took back, as it was. Of several entities all are checked before the first is changed; where one can't be
    brought back, none is. The same command again finishes one that was interrupted.
        dbt run-operation spark_cdc.redo --args '{entities: [orders]}'
    Arguments: entities (list of names, or one). Returns nothing. -#}
{%- macro redo(entities) -%}
    {%- do spark_cdc._check_arguments('redo', {'entities': entities}) -%}
    {%- do spark_cdc._move_heads('redo', entities) -%}
{%- endmacro -%}


{#- Undo and redo: they move the head of an entity back or forth along its loads. Each is one commit, whose manifest says what it did (move),
    one row of cdc_loads, and then the claims before it are dropped. A move without such a row, or with such claims, was interrupted: the same command then
    finishes it, for all entities that it was about, and does nothing beyond, so that it may be sent again without going back twice.

    In a manifest move is a dictionary: load_id (under which cdc_loads has it; kind u or r), at (when, UTC), loads (that went or came), rows_prior
    (rows before it), with (of several entities: name to {from: last load before, to: last load after}). undone is a list of what redo
    brings back, the last first: {loads, at, figures (of the manifest with these loads, where they differ from those without)}.
    Arguments: command (undo or redo), entities, to (of undo()). Prints a line of JSON: a list of dictionaries with entity, loads, to,
    rows, views (whether views have to be altered). Returns nothing. -#}
{%- macro _move_heads(command, entities, to=none) -%}
    {%- if not entities or (to is not none and not to | string | trim) -%}
        {%- set message -%}
spark_cdc.{{ command }}: {{ 'to is empty' if entities else 'entities is missing' }}. Accepted are {{ 'a load or a date' if entities else 'names of entities' }}: {# -#}
spark-cdc {{ command }} orders. Nothing was changed.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- set found = [] -%}
    {%- for capture in spark_cdc._captures(command, entities) -%}
        {%- do spark_cdc._ensure_load_log(capture.load_log) -%}
        {%- set head = spark_cdc._head(capture) -%}
        {%- set is_moved = 'move' in head and spark_cdc._move_command(head.move) == command -%}
        {%- set is_recorded = is_moved and head.move.load_id in spark_cdc._recorded_loads(capture.load_log, capture.entity.name) -%}
        {%- set claims = spark_cdc._claims(capture) | select('lt', head.sequence) | list if is_moved else [] -%}
        {%- do found.append(dict(
            capture, name=capture.entity.name, head=head, is_moved=is_moved, is_recorded=is_recorded, claims=claims,
            is_interrupted=is_moved and (not is_recorded or claims | length > 0),
        )) -%}
    {%- endfor -%}

    {%- set group = {} -%}
    {%- for one in found if one.is_interrupted -%}{%- do group.update(one.head.move.get('with') or {}) -%}{%- endfor -%}
    {%- set problems = spark_cdc._interrupted_move_problems(command, group, found) -%}
    {%- set moves, there = [], [] -%}
    {%- for one in found -%}
        {%- if one.is_interrupted or (one.is_moved and group and one.head.move.get('with') == group) -%}
            {%- do moves.append(dict(one, next=none)) -%}
            {%- if to is not none -%}{%- do problems.extend(spark_cdc._interrupted_elsewhere_problems(one, to, group)) -%}{%- endif -%}
        {%- elif command == 'undo' and to is not none and not group and found | length > 1 and one.head.loads
                and spark_cdc._loads_up_to(one, one.head.loads, to).loads == one.head.loads -%}
            {%- do there.append(one) -%}
        {%- else -%}
            {%- set planned = spark_cdc._undone_manifest(one, one.head, to, group.get(one.name)) if command == 'undo'
                    else spark_cdc._redone_manifest(one, one.head) -%}
            {%- if planned.problem -%}{%- do problems.append(planned.problem) -%}{%- endif -%}
            {%- do moves.append(dict(one, next=planned.get('manifest'), loads=planned.get('loads'))) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for one in there if not moves -%}{%- do problems.append(one.name ~ ': there is nothing to undo, the last load is ' ~ one.head.loads[-1] ~ ' itself.') -%}{%- endfor -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error(problems | unique | join('\n') ~ '\nNothing was changed, and readers see what they saw before.') -%}
    {%- endif -%}
    {%- for one in there -%}{%- do log(one.name ~ ': is at the state of ' ~ to ~ ' already, after ' ~ one.head.loads[-1], info=true) -%}{%- endfor -%}
    {%- do spark_cdc._carry_out_moves(command, moves, group) -%}
{%- endmacro -%}


{#- An undo that was interrupted is finished as it was meant: to another state it has to be sent once more, when that is done. -#}
{%- macro _interrupted_elsewhere_problems(one, to, group) -%}
    {%- set found = spark_cdc._loads_up_to(one, one.head.loads + one.head.move.loads, to) -%}
    {%- if found.problem -%}{{ return([found.problem]) }}{%- elif found.loads == one.head.loads -%}{{ return([]) }}{%- endif -%}
    {%- set names = group | sort | join(' ') or one.name -%}
    {%- set problem -%}
{{ one.name }}: the last undo was interrupted, and went to the state after {{ one.head.loads | last | default('no load') }}, not to {{ to }}. Finish it first: {# -#}
spark-cdc undo {{ names }}. Then {{ 'spark-cdc redo ' ~ names ~ ' and ' if found.loads | length > one.head.loads | length }}spark-cdc undo {{ names }} --to {{ to }}.
    {%- endset -%}
    {{ return([problem]) }}
{%- endmacro -%}


{#- Commits moves, one after the other, and then adds their rows to cdc_loads and drops the claims before: as long as one of them is not committed, none has a
    row. -#}
{%- macro _carry_out_moves(command, moves, group) -%}
    {%- set at = spark_cdc._time_now() -%}
    {%- set together = dict(group) -%}
    {%- for one in moves if one.next is not none and moves | length > 1 -%}
        {%- do together.update({one.name: {'from': one.head.loads | last | default(''), 'to': one.next.loads | last | default('')}}) -%}
    {%- endfor -%}
    {%- set moved, told, older = [], [], [] -%}
    {%- for one in moves -%}
        {%- set next = one.head -%}
        {%- if one.next is not none -%}
            {%- set move = {
                'load_id': one.loads[-1].split('-')[0] ~ '-' ~ command[0] ~ '-' ~ spark_cdc._attempt(), 'at': at, 'loads': one.loads,
                'rows_prior': one.head.rows,
            } -%}
            {%- set next = dict(one.next, move=dict(move, **({'with': together} if together else {}))) -%}
            {#- what crashes left out of cdc_loads, while the manifest still names it -#}
            {%- do spark_cdc._record_missing_loads(one, one.head) -%}
            {%- do older.append((one, spark_cdc._publish(one, next, command ~ ' of ' ~ spark_cdc._counted(one.loads | length, 'load'),
                    before=one.head, is_move=true))) -%}
        {%- else -%}
            {%- do older.append((one, one.claims)) -%}
        {%- endif -%}
        {%- do moved.append((one, next)) -%}
        {%- do told.append({
            'entity': one.name, 'loads': next.move.loads, 'to': next.loads | last | default(none), 'rows': next.rows,
            'views': one.next is none or one.head.definition != next.definition
                or spark_cdc._is_few(one.entity, one.head.log_rows) != spark_cdc._is_few(one.entity, next.log_rows),
        }) -%}
    {%- endfor -%}
    {%- for one, next in moved -%}
        {%- if one.next is not none or not one.is_recorded -%}{%- do spark_cdc._record_move(one, next, now=one.next is not none) -%}{%- endif -%}
        {%- do log(spark_cdc._move_text(one, next), info=true) -%}
    {%- endfor -%}
    {%- for one, claims in older -%}{%- do spark_cdc._drop_claims(one, claims) -%}{%- endfor -%}
    {%- do spark_cdc._print_data('moved', told) -%}
{%- endmacro -%}


{#- What a move came to, in words. -#}
{%- macro _move_text(one, manifest) -%}
    {%- set move, command = manifest.move, spark_cdc._move_command(manifest.move) -%}
    {%- set loads = move.loads[0] ~ (' to ' ~ move.loads[-1] if move.loads | length > 1) -%}
{{ one.name }}: {{ 'finished what was interrupted, nothing more was done: ' if one.next is none }}
    {{- 'took back ' if command == 'undo' else 'brought back ' }}{{ spark_cdc._counted(move.loads | length, 'load') }} ({{ loads }}); {# -#}
readers see the state after {{ manifest.loads | last | default('nothing') }}, {{ spark_cdc._counted(manifest.rows, 'row') }}
    {%- if command == 'undo' %}; spark-cdc redo {{ one.name }} brings {{ 'it' if move.loads | length == 1 else 'them' }} back, until the next load
    {%- endif -%}
{%- endmacro -%}


{#- Why a move that was interrupted can't be finished: entities that it was about and that the command does not name. -#}
{%- macro _interrupted_move_problems(command, group, found) -%}
    {%- set problems = [] -%}
    {%- set missing = group | reject('in', found | map(attribute='name') | list) | sort -%}
    {%- if missing -%}
        {%- set problem -%}
{{ found | selectattr('is_interrupted') | map(attribute='name') | join(', ') }}: the last {{ command }} was interrupted before it was done with {# -#}
all of {{ group | sort | join(', ') }}. To finish it: spark-cdc {{ command }} {{ group | sort | join(' ') }}.
        {%- if command == 'undo' %} To take it back: spark-cdc redo {{ found | selectattr('is_interrupted') | map(attribute='name') | join(' ') }}.{% endif -%}
        {%- endset -%}
        {%- do problems.append(problem) -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The manifest of an entity without its last loads, and what redo needs to bring these back. Arguments: capture, head (manifest), to (of
    undo()), interrupted (what an undo of several entities that was interrupted had in mind for this one: {from, to}; none). Returns a
    dictionary: problem (why it can't be, a text), or manifest and loads (that go). -#}
{%- macro _undone_manifest(capture, head, to, interrupted=none) -%}
    {%- set name = capture.entity.name -%}
    {%- if not head.loads -%}
        {{ return({'problem': name ~ ': nothing is committed, so there is nothing to undo.'}) }}
    {%- elif interrupted and head.loads[-1] != interrupted['from'] -%}
        {%- set problem -%}
{{ name }}: an undo of several entities was interrupted before it came to {{ name }}, of which {{ head.loads[-1] }} has been committed {# -#}
since. Undo each by itself with --to, or bring the others back with redo.
        {%- endset -%}
        {{ return({'problem': problem}) }}
    {%- endif -%}
    {%- set found = spark_cdc._loads_up_to(capture, head.loads, interrupted.to if interrupted else to) -%}
    {%- if found.problem -%}
        {{ return({'problem': found.problem}) }}
    {%- elif found.loads == head.loads -%}
        {{ return({'problem': name ~ ': there is nothing to undo, the last load is ' ~ head.loads[-1] ~ ' itself.'}) }}
    {%- endif -%}
    {%- set cut = spark_cdc._manifest_up_to(capture, head, found.loads) -%}
    {%- set problem = spark_cdc._other_columns_problem(capture.entity, cut) if cut.loads else none -%}
    {%- if problem -%}
        {{ return({'problem': problem}) }}
    {%- endif -%}
    {%- set figures = {} -%}
    {%- for figure in ['rows', 'log_rows', 'previous', 'definition', 'layout', 'applied'] if (head.get(figure) or none) != (cut.get(figure) or none) -%}
        {%- do figures.update({figure: head.get(figure)}) -%}
    {%- endfor -%}
    {%- set gone = head.loads[found.loads | length:] -%}
    {%- set step = {'loads': gone, 'at': spark_cdc._time_now(), 'figures': figures} -%}
    {{ return({'problem': none, 'manifest': dict(cut, undone=[step] + (head.get('undone') or [])), 'loads': gone}) }}
{%- endmacro -%}


{#- The manifest of an entity with the loads that the last undo took back. Their rows are counted first: vacuum may have dropped them.
    Arguments: capture, head (manifest). Returns a dictionary as of _undone_manifest(). -#}
{%- macro _redone_manifest(capture, head) -%}
    {%- set name, undone = capture.entity.name, head.get('undone') or [] -%}
    {%- if not undone -%}
        {%- set problem -%}
{{ name }}: there is nothing to bring back. What was undone can be, until another load is committed, or vacuum drops it. To load {# -#}
the date again: spark-cdc load DATE --select {{ name }}.
        {%- endset -%}
        {{ return({'problem': problem}) }}
    {%- endif -%}
    {%- set step = undone[0] -%}
    {%- set manifest = dict(head, loads=head.loads + step.loads, undone=undone[1:], **step.figures) -%}
    {%- set problem = spark_cdc._other_columns_problem(capture.entity, manifest) -%}
    {%- if problem -%}
        {{ return({'problem': problem}) }}
    {%- endif -%}

    {%- set state, before = spark_cdc._state_loads(manifest.loads), spark_cdc._state_loads(manifest.loads[:-1]) -%}
    {%- set needed = ([state.base, before.base] | select | list + state.log + before.log + step.loads) | unique | list -%}
    {%- set counted = spark_cdc._load_counts(capture.ledger, needed, step.loads) -%}
    {%- set now = spark_cdc._figures_of_state(counted.rows, state.base, state.log) -%}
    {%- set changes = namespace(rows=head.rows) -%}
    {%- for load_id in step.loads -%}
        {%- set of_load = counted.rows.get(load_id, {}) -%}
        {%- set changes.rows = changes.rows + of_load.get('I', 0) - of_load.get('D', 0) -%}
    {%- endfor -%}
    {%- set gone = step.loads | reject('in', counted.records) | list -%}
    {%- if gone or now.rows != manifest.rows or changes.rows != manifest.rows -%}
        {%- set problem -%}
{{ name }}: {{ gone | join(', ') or step.loads | join(', ') }} can't be brought back: rows are missing in {{ capture.ledger }}; vacuum drops {# -#}
loads that were undone. Load the dates again: spark-cdc load {{ spark_cdc._load_times(capture.entity, step.loads) | join(' ') }} --select {{ name }}.
        {%- endset -%}
        {{ return({'problem': problem}) }}
    {%- endif -%}
    {#- since its checkpoint: compact may have written one meanwhile -#}
    {%- set rows_before = spark_cdc._figures_of_state(counted.rows, before.base, before.log) -%}
    {%- set previous = dict(manifest.previous, log_rows=rows_before.log_rows) -%}
    {{ return({'problem': none, 'manifest': dict(manifest, log_rows=now.log_rows, previous=previous), 'loads': step.loads}) }}
{%- endmacro -%}
