{#- The timeline of an entity: its loads as a list of entries, and all that happens to it as a
    function from one list to another. Nothing here reads, and nothing is called but what stands
    in this file. An entry is a dictionary:
        load_id     the load
        commit      number of the commit that brought it into the list; none until it is committed
        rows        rows that exist after it
        written     rows that it wrote which count: I, U, D, N and X
        definition  fingerprint of the columns that it was written with
        layout      where the ledger holds which column by then (see _layout())
        added       columns that loads had added automatically by then, names to types (see
                    _new_columns())
        applied     of change events: how far they had been applied (see _next_manifest())
    A manifest is such a list (entries) with what else a commit says, and what follows from the
    entries (loads, rows, log_rows, definition, layout, added, applied). -#}


{#- A manifest with other entries: what follows from them is worked out here, and nowhere else:
    loads (their names, oldest first), rows (that exist after the last one), log_rows (written since
    the last checkpoint), and definition, layout, added and applied of the last one. What else it
    says:
        sequence   number of the last commit; commit: the run that made it
        rewritten  number of the last commit that took loads away (0: none), so that a change feed
                   can't tell the versions before it from this manifest
        times      when that commit was made (`rewritten`), and those that brought loads which other
                   runs had written (number as text): UTC
        undone     what redo can bring back, the last first: dictionaries of at (UTC) and entries
        seen       {definition, layout, added} of a load that is gone, under which readers see the
                   ones before it, as they did until it was undone. Loads build on the last one's
                   own
        existed    whether <entity>_committed is there -#}
{%- macro _timeline(manifest, entries) -%}
    {%- set last, since = entries | last | default({}), namespace(rows=0) -%}
    {%- set seen = (manifest.get('seen') or last) if last else last -%}
    {%- for entry in entries -%}
        {#- as _load_kind() has it, without a call for each load -#}
        {%- set is_checkpoint = entry.load_id.split('-')[1].endswith('c') -%}
        {%- set since.rows = 0 if is_checkpoint else since.rows + entry.written -%}
    {%- endfor -%}
    {{ return(dict({'sequence': 0, 'commit': none, 'rewritten': 0, 'times': {}, 'undone': [], 'existed': false}, **dict(
        manifest,
        entries=entries,
        loads=entries | map(attribute='load_id') | list,
        rows=last.get('rows', 0),
        log_rows=since.rows,
        definition=seen.get('definition'),
        layout=seen.get('layout', {}),
        added=seen.get('added', {}),
        applied=last.get('applied', {}),
    ))) }}
{%- endmacro -%}


{#- The manifest of an entity of which nothing is committed. -#}
{%- macro _empty_manifest() -%}{{ return(spark_cdc._timeline({}, [])) }}{%- endmacro -%}


{#- Its first loads alone: what a rerun or a replay builds on, or (is_seen) as readers see them, a
    tag or a branch. All of them if there are no more. What was undone, and the undo, are no part
    of it. -#}
{%- macro _timeline_cut(manifest, count, is_seen=false) -%}
    {%- set rest = dict(manifest.items() | rejectattr(0, 'in', ['move'] + ([] if is_seen else ['seen']))) -%}
    {{ return(spark_cdc._timeline(dict(rest, undone=[]), manifest.entries[:count])) }}
{%- endmacro -%}


{#- After a load that keeps the first `count` loads: a new date keeps all, the same date again all
    but the last. What was undone can't be brought back on top of it. -#}
{%- macro _timeline_loaded(manifest, count, entry) -%}
    {%- set kept = spark_cdc._timeline_cut(manifest, count) -%}
    {{ return(spark_cdc._timeline(kept, kept.entries + [dict(entry, commit=none)])) }}
{%- endmacro -%}


{#- After an undo of all but the first `count` loads. Argument: move (what it did, see
    _undo_redo_entities(); its `at` is that of the undone loads). -#}
{%- macro _timeline_undone(manifest, count, move) -%}
    {%- set undone = [{'at': move.at, 'entries': manifest.entries[count:]}] + manifest.undone -%}
    {%- set rest = manifest.items() | rejectattr(0, 'equalto', 'seen') -%}
    {{ return(spark_cdc._timeline(dict(rest, undone=undone, move=move), manifest.entries[:count])) }}
{%- endmacro -%}


{#- After a redo of what the last undo took back: it comes with a commit of its own. -#}
{%- macro _timeline_redone(manifest, move) -%}
    {%- set entries = manifest.entries | list -%}
    {%- for entry in manifest.undone[0].entries -%}{%- do entries.append(dict(entry, commit=none)) -%}{%- endfor -%}
    {%- set rest = manifest.items() | rejectattr(0, 'equalto', 'seen') -%}
    {{ return(spark_cdc._timeline(dict(rest, undone=manifest.undone[1:], move=move), entries)) }}
{%- endmacro -%}


{#- The same loads, seen by readers under the columns of a later one that is gone (entry). -#}
{%- macro _timeline_seen(manifest, entry) -%}
    {%- set seen = {'definition': entry.definition, 'layout': entry.layout, 'added': entry.get('added', {})} -%}
    {{ return(spark_cdc._timeline(dict(manifest, seen=seen), manifest.entries)) }}
{%- endmacro -%}


{#- After compact: two loads, a history and its checkpoint, in the place of those from `first` up
    to but not including `end`. The state is the same. Arguments: history and checkpoint
    (dictionaries: load_id, written). -#}
{%- macro _timeline_compacted(manifest, first, end, history, checkpoint) -%}
    {%- set last, entries = manifest.entries[end - 1], manifest.entries -%}
    {%- set written = [dict(last, commit=none, **history), dict(last, commit=none, **checkpoint)] -%}
    {{ return(spark_cdc._timeline(manifest, entries[:first] + written + entries[end:])) }}
{%- endmacro -%}


{#- After the draft of a replay is published: its entries in the place of the timeline's. -#}
{%- macro _timeline_replayed(timeline, draft) -%}
    {%- set secrets = dict(timeline.get('secrets') or {}, **(draft.get('secrets') or {})) -%}
    {{ return(spark_cdc._timeline(dict(spark_cdc._timeline_cut(timeline, 0), **({'secrets': secrets} if secrets else {})), draft.entries)) }}
{%- endmacro -%}


{#- After erase: loads under other names. Argument: names (old to new). -#}
{%- macro _timeline_renamed(manifest, names) -%}
    {%- set lists, undone, moved = [], [], [] -%}
    {%- for entries in [manifest.entries] + manifest.undone | map(attribute='entries') | list -%}
        {%- set renamed = [] -%}
        {%- for entry in entries -%}
            {%- do renamed.append(dict(entry, load_id=names.get(entry.load_id, entry.load_id))) -%}
        {%- endfor -%}
        {%- do lists.append(renamed) -%}
    {%- endfor -%}
    {%- for step in manifest.undone -%}{%- do undone.append(dict(step, entries=lists[loop.index])) -%}{%- endfor -%}
    {%- for load_id in (manifest.get('move') or {'loads': []}).loads -%}{%- do moved.append(names.get(load_id, load_id)) -%}{%- endfor -%}
    {%- set move = {'move': dict(manifest.move, loads=moved)} if manifest.get('move') else {} -%}
    {{ return(spark_cdc._timeline(dict(manifest, undone=undone, **move), lists[0])) }}
{%- endmacro -%}


{#- A manifest as its commit writes it: entries that are new get the commit's number, which is
    their version in change feeds. Arguments: manifest (with the number of the commit that it
    builds on), before (manifest of that commit; none where the rows are the same, as after
    compact), commit (eight characters of the run), at (UTC). -#}
{%- macro _timeline_committed(manifest, before, commit, at) -%}
    {%- set sequence, entries, foreign = manifest.sequence + 1, [], [] -%}
    {%- for entry in manifest.entries -%}
        {%- do entries.append(dict(entry, commit=sequence) if entry.commit is none else entry) -%}
        {%- do foreign.append(entry) if entry.commit is none and not entry.load_id.endswith(commit) -%}
    {%- endfor -%}
    {%- set is_rewritten = before is not none and spark_cdc._common_loads(before.loads, manifest.loads) != before.loads -%}
    {%- set rewritten = sequence if is_rewritten else manifest.rewritten -%}
    {%- set now = dict({'rewritten': at} if is_rewritten else {}, **({sequence | string: at} if foreign else {})) -%}
    {%- set used = entries | map(attribute='commit') | map('string') | list + ['rewritten'] -%}
    {%- set times = dict(dict(manifest.times, **now).items() | selectattr(0, 'in', used)) -%}
    {{ return(spark_cdc._timeline(dict(manifest, sequence=sequence, commit=commit, rewritten=rewritten, times=times), entries)) }}
{%- endmacro -%}


{#- Which loads came by another commit than the one that they were written for, as change feeds
    have to know it: a list of {after, version, at}, oldest first. All loads behind `after` (a
    load, or an empty text) have that version, unless their own is a later one. -#}
{%- macro _timeline_recommitted(manifest) -%}
    {%- set told, before = [], namespace(load_id='', commit=none) -%}
    {%- for entry in manifest.entries -%}
        {%- if entry.commit | string in manifest.times and entry.commit != before.commit -%}
            {%- do told.append({'after': before.load_id, 'version': entry.commit, 'at': manifest.times[entry.commit | string]}) -%}
        {%- endif -%}
        {%- set before.load_id = entry.load_id -%}
        {%- set before.commit = entry.commit -%}
    {%- endfor -%}
    {{ return(told) }}
{%- endmacro -%}


{#- Which commit brought which load: the versions of a change feed. Arguments: manifest, records
    (of its loads). Returns a list in the order of the loads, which is that of the versions, of
    {load_id, version, at (UTC, as text), written_as (the load under which its rows lie: another
    name where compact has merged it)}. -#}
{%- macro _commits(manifest, records) -%}
    {%- set commits = [] -%}
    {%- for entry in manifest.entries -%}
        {%- set record, at = records[entry.load_id], manifest.times.get(entry.commit | string) -%}
        {%- set own = [{'load_id': entry.load_id, 'version': record.get('version'), 'at': record.get('started_at')}] -%}
        {%- for one in (record.commits if spark_cdc._load_kind(entry.load_id).is_compacted else own) -%}
            {%- set is_again = at is not none and entry.commit > one.version -%}
            {%- do commits.append(dict(one, written_as=entry.load_id, **({'version': entry.commit, 'at': at} if is_again else {}))) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(commits) }}
{%- endmacro -%}


{#- The loads that redo can bring back, oldest first. -#}
{%- macro _undone_loads(manifest) -%}
    {{ return(manifest.undone | map(attribute='entries') | sum(start=[]) | map(attribute='load_id') | list) }}
{%- endmacro -%}


{#- What the comment in the text of <entity>_committed says: a manifest without what follows from
    its entries, and without their names, which the text lists. Each entry is a list of its commit,
    rows and written, and of what differs from the entry before: definition, layout, added, and the
    names in applied. Those that were undone come last, under the names that `undone` has. -#}
{%- macro _timeline_stored(manifest) -%}
    {%- set told, undone, before = [], [], namespace(says={'definition': none, 'layout': {}}) -%}
    {%- for step in manifest.undone -%}
        {%- do undone.append({'at': step.at, 'loads': step.entries | map(attribute='load_id') | list}) -%}
    {%- endfor -%}
    {%- for entry in manifest.entries + manifest.undone | map(attribute='entries') | sum(start=[]) -%}
        {%- set says = dict(entry.applied, definition=entry.definition, layout=entry.layout) -%}
        {%- do says.update({'added': entry.added}) if entry.get('added') -%}
        {%- set other = dict(says.items() | reject('in', before.says.items() | list)) -%}
        {%- set without = before.says | reject('in', says) | list -%}
        {%- set other = dict(other, without=without) if without else other -%}
        {%- do told.append([entry.commit, entry.rows, entry.written] + ([other] if other else [])) -%}
        {%- set before.says = says -%}
    {%- endfor -%}
    {%- set kept = ['sequence', 'commit', 'rewritten', 'times', 'move', 'secrets', 'erased', 'tag', 'replay', 'kept_at', 'seen'] -%}
    {%- set stored = dict(dict(manifest, undone=undone).items() | selectattr(0, 'in', kept + ['undone']) | selectattr(1)) -%}
    {{ return(dict(stored, loads=told)) }}
{%- endmacro -%}


{#- The manifest again. Arguments: stored (of _timeline_stored()), loads (their names). A load that
    somebody wrote into the text by hand has no figures. -#}
{%- macro _timeline_of(stored, loads) -%}
    {%- set names = loads + stored.get('undone', []) | map(attribute='loads') | sum(start=[]) -%}
    {%- set entries, undone, at = [], [], namespace(says={'definition': none, 'layout': {}}, applied={}) -%}
    {%- for load_id, told in zip(names, stored.loads + [[none, 0, 0]] * names | length) -%}
        {%- if told | length > 3 -%}
            {%- set at.says = dict(dict(at.says, **told[3]).items() | rejectattr(0, 'in', told[3].get('without', []) + ['without'])) -%}
            {%- set at.applied = dict(at.says.items() | rejectattr(0, 'in', ['definition', 'layout', 'added'])) -%}
        {%- endif -%}
        {%- do entries.append({
            'load_id': load_id, 'commit': told[0], 'rows': told[1], 'written': told[2],
            'definition': at.says.definition, 'layout': at.says.layout, 'added': at.says.get('added', {}), 'applied': at.applied,
        }) -%}
    {%- endfor -%}
    {%- set rest = namespace(entries=entries[loads | length:]) -%}
    {%- for step in stored.get('undone', []) -%}
        {%- do undone.append({'at': step.at, 'entries': rest.entries[:step.loads | length]}) -%}
        {%- set rest.entries = rest.entries[step.loads | length:] -%}
    {%- endfor -%}
    {{ return(spark_cdc._timeline(dict(stored, existed=true, undone=undone), entries[:loads | length])) }}
{%- endmacro -%}


{#- What a load's name says of it. Returns a dictionary: is_full, is_snapshot (full, among
    events), is_checkpoint, is_compacted (compact wrote it), is_history (it holds the history of
    the loads that compact merged into it). -#}
{%- macro _load_kind(load_id) -%}
    {%- set kind = load_id.split('-')[1] -%}
    {{ return({
        'is_full': kind.startswith('f'),
        'is_snapshot': kind.startswith('s'),
        'is_checkpoint': kind.endswith('c'),
        'is_compacted': kind.startswith('h'),
        'is_history': kind == 'h',
    }) }}
{%- endmacro -%}


{#- The business time in a load's name, as a datetime. -#}
{%- macro _load_time(load_id) -%}
    {%- set stamp = load_id.split('-')[0] -%}
    {{ return(modules.datetime.datetime.strptime(stamp, '%Y%m%dT%H%M%S' if 'T' in stamp else '%Y%m%d')) }}
{%- endmacro -%}


{#- Those of some loads whose names say something. Arguments: loads, attribute (of _load_kind(),
    or time: the business time), a Jinja test and the value that it compares with (a datetime, of
    a time). -#}
{%- macro _loads_with(loads, attribute, test='equalto', value=true) -%}
    {%- set named = [] -%}
    {%- for load_id in loads -%}
        {%- set told = {'time': (load_id.split('-')[0] ~ 'T000000')[:15]} if attribute == 'time' else spark_cdc._load_kind(load_id) -%}
        {%- do named.append(dict(told, load_id=load_id)) -%}
    {%- endfor -%}
    {%- set value = spark_cdc._time_stamp(value) if attribute == 'time' else value -%}
    {{ return(named | selectattr(attribute, test, value) | map(attribute='load_id') | list) }}
{%- endmacro -%}


{#- The loads with which two lists of loads begin alike. -#}
{%- macro _common_loads(some, others) -%}
    {%- set same = namespace(count=0) -%}
    {%- for load_id in some -%}
        {%- if same.count == loop.index0 and others[loop.index0:][:1] == [load_id] -%}{%- set same.count = loop.index -%}{%- endif -%}
    {%- endfor -%}
    {{ return(some[:same.count]) }}
{%- endmacro -%}


{#- The loads that make up a state: the newest checkpoint of a list of loads (base, or none), and
    those after it (log). -#}
{%- macro _state_loads(loads) -%}
    {%- set checkpoints = spark_cdc._loads_with(loads, 'is_checkpoint') -%}
    {%- if not checkpoints -%}
        {{ return({'base': none, 'log': loads}) }}
    {%- endif -%}
    {{ return({'base': checkpoints[-1], 'log': loads[loads.index(checkpoints[-1]) + 1:]}) }}
{%- endmacro -%}
