{#- The manifest of a state by its name. Arguments: ctx, timeline (manifest that readers see), name:
        none        the present state
        a date or a load: the state at its end; loads that redo can bring back are known, too
        a number    the state at the end of that commit (_commit_version of a change feed)
        a tag
        draft       of a replay
        production  in a branch, whose ledger shows all rows of production's, also of later loads
    A tag of one of these two names comes first. Returns the manifest; of a date or a load that of
    readers with those loads. -#}
{%- macro _named_state(ctx, timeline, name) -%}
    {%- set text = name | string | trim -%}
    {%- if name is none -%}
        {{ return(timeline) }}
    {%- elif text == 'production' and text not in spark_cdc._tags(ctx) -%}
        {%- set name = ctx.entity.name -%}
        {%- set origin = spark_cdc._branch_origin(spark_cdc._view_text(ctx.public)) if spark_cdc._is_there(ctx.public) else none -%}
        {%- if origin is none -%}
            {%- set message -%}
{{ name }}: {{ ctx.schema }} is no branch that has {{ name }}, so there is no production to compare with. Give two states, or a branch:
  spark-cdc diff {{ name }} --branch NAME
            {%- endset -%}
            {%- do exceptions.raise_compiler_error(message) -%}
        {%- endif -%}
        {%- set view = spark_cdc._relation_in(origin.of.schema, ctx.committed.identifier) -%}
        {%- set production = spark_cdc._parse_manifest(spark_cdc._view_text(view), view) -%}
        {%- set is_other = production.definition != origin.definition -%}
        {%- if is_other or (timeline.definition != origin.definition and timeline.layout.get('rekeyed')) -%}
            {%- set message -%}
{{ name }}: {{ 'production has other columns' if is_other else 'the branch has other keys' }} than when the branch was made, so that rows can't be {# -#}
compared. Compare the views {{ view.schema }}.{{ name }}_current and {{ ctx.schema }}.{{ name }}_current in a query of your own, or make the branch anew.
            {%- endset -%}
            {%- do exceptions.raise_compiler_error(message) -%}
        {%- endif -%}
        {{ return(production) }}
    {%- elif text[:1] >= 'a' -%}
        {{ return(spark_cdc._tagged_state(ctx, text)) }}
    {%- elif text.isdigit() -%}
        {%- set manifest = spark_cdc._manifests_since(ctx, timeline, text | int)[0] -%}
        {%- set told = manifest.rewritten <= text | int <= timeline.sequence -%}
        {%- set records = spark_cdc._load_records(ctx.public, manifest.loads) if told else {} -%}
        {%- set state = spark_cdc._state_at_version(manifest, spark_cdc._commits(manifest, records), text | int) if told else {'until': none} -%}
        {%- if not told or state.until is not none -%}
            {%- do exceptions.raise_compiler_error(ctx.entity.name ~ ': the state at commit ' ~ text ~ " can't be told: the last commit is " ~ timeline.sequence
                ~ ', and what was there before commit ' ~ manifest.rewritten ~ ', or within loads that compact has merged, is not known. Name a date or a load.') -%}
        {%- endif -%}
        {{ return(dict(manifest, loads=state.loads)) }}
    {%- endif -%}
    {%- set undone = spark_cdc._undone_loads(timeline) -%}
    {%- set found = spark_cdc._loads_up_to(ctx, timeline.loads + (undone if text in undone else []), text) -%}
    {%- set problem = found.problem or (ctx.entity.name ~ ': a state is empty, accepted are dates, loads and tags.' if not text) -%}
    {%- if problem -%}{%- do exceptions.raise_compiler_error(problem ~ ' To list tags:\n  spark-cdc tag list') -%}{%- endif -%}
    {{ return(dict(timeline, loads=found.loads)) }}
{%- endmacro -%}


{#- The manifests from which the versions after one can be told: the last commit's, and before
    each commit that took loads away what was kept of the one before. Returns a list, the oldest
    first: where that begins with a commit that took loads away after the version, the version
    can't be told of. -#}
{%- macro _manifests_since(ctx, timeline, version) -%}
    {%- set found = [timeline] -%}
    {%- if timeline.rewritten > version -%}
        {%- set kept = spark_cdc._retained_versions(ctx) -%}
        {%- for _ in kept if found[0].rewritten > version -%}
            {%- set before = kept.get(found[0].rewritten - 1) -%}
            {%- if before -%}{%- do found.insert(0, before) -%}{%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(found) }}
{%- endmacro -%}


{#- The state after some commits. Arguments: manifest, commits (all of its own, see _commits()),
    count (how many of them). Returns a dictionary: loads, base and log (of _state_loads()), commits
    (these), and until: where the last load stands for later commits too, which compact has
    compacted with it, the business time up to which its rows count; else none. -#}
{%- macro _state_after_commits(manifest, commits, count) -%}
    {%- set told = commits[:count] -%}
    {%- set last = told[-1].written_as if told else none -%}
    {%- set is_cut = told and commits[count:][:1] | map(attribute='written_as') | list == [last] -%}
    {#- a history goes with the checkpoint behind it -#}
    {%- set loads = manifest.loads[:manifest.loads.index(last) + (2 if spark_cdc._load_kind(last).is_history and not is_cut else 1)] if told else [] -%}
    {{ return(dict(
        spark_cdc._state_loads(loads), loads=loads, commits=told, until=spark_cdc._load_time(told[-1].load_id) if is_cut else none)) }}
{%- endmacro -%}


{#- The same of the commits up to a version. -#}
{%- macro _state_at_version(manifest, commits, version) -%}
    {{ return(spark_cdc._state_after_commits(manifest, commits, commits | selectattr('version', 'le', version) | list | length)) }}
{%- endmacro -%}


{#- The manifest of a tag, or of the draft of a replay by the name draft, with relation (the view
    of which the manifest is the text); an error that lists the tags where there is none. -#}
{%- macro _tagged_state(ctx, name) -%}
    {%- set entity, view = ctx.entity.name, spark_cdc._beside(ctx, 'tag', name) -%}
    {%- if view.identifier in spark_cdc._views_in(view.schema, view.identifier) -%}
        {{ return(dict(spark_cdc._parse_manifest(spark_cdc._view_text(view), view), relation=view)) }}
    {%- endif -%}
    {%- set draft = spark_cdc._read_draft(ctx) if name == 'draft' else {} -%}
    {%- if not draft.get('existed') -%}
        {%- set message -%}
{{ entity }}: there is no tag '{{ name }}'. Accepted are {{ spark_cdc._tags(ctx) | sort | join(', ') or 'none yet' }}. {# -#}
To name a state:
  spark-cdc tag create {{ name }} {{ entity }}
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {{ return(dict(draft, relation=ctx.replay)) }}
{%- endmacro -%}


{#- The draft of a replay: the text of the view <entity>_replay, in the form of
    <entity>_committed; `replay` in its figures says what it is a draft of: {from, source, timeline:
    number and fingerprint of the committed loads it was made from}. Returns the manifest, or an
    empty one. -#}
{%- macro _read_draft(ctx) -%}
    {%- set view = ctx.replay -%}
    {%- if not spark_cdc._views_in(view.schema, view.identifier) -%}
        {{ return(spark_cdc._empty_manifest()) }}
    {%- endif -%}
    {%- set draft = spark_cdc._parse_manifest(spark_cdc._view_text(view), view) -%}
    {%- if 'replay' not in draft -%}
        {%- do exceptions.raise_compiler_error(
            ctx.entity.name ~ ': ' ~ view ~ ' is not the draft of a replay, but a replay needs that name. Nothing was written. Rename it.'
        ) -%}
    {%- endif -%}
    {{ return(draft) }}
{%- endmacro -%}


{#- What a draft is made from, told by the committed loads. -#}
{%- macro _draft_origin(loads) -%}{{ return([loads | length, local_md5(loads | join(','))[:8]]) }}{%- endmacro -%}


{#- Whether a draft may no longer take the place of what is committed: why not, or an empty text.
    Loads that were added since are no reason, the draft only lacks them yet. -#}
{%- macro _draft_outdated(draft, timeline) -%}
    {%- if draft.existed and spark_cdc._draft_origin(timeline.loads[:draft.replay.timeline[0]]) != draft.replay.timeline -%}
since it was made, another run has committed other loads in the place of those that it rebuilds (commit {{ timeline.sequence }}, last load {# -#}
{{ timeline.loads[-1] or 'none' }})
    {%- endif -%}
{%- endmacro -%}


{#- The business times, as texts, of some loads from the replay's first date on: of the draft's
    own, if no others are given. -#}
{%- macro _draft_times(entity, draft, loads=none) -%}
    {%- set first = spark_cdc._business_time(draft.replay['from']) -%}
    {{ return(spark_cdc._load_times(entity, spark_cdc._loads_with(draft.loads if loads is none else loads, 'time', 'ge', first))) }}
{%- endmacro -%}


{#- The tags of an entity, asked of the metastore: a dictionary from the name to the manifest,
    with text (of the view). -#}
{%- macro _tags(ctx) -%}
    {%- set schema, prefix = ctx.schema ~ '_commits', ctx.entity.name ~ '_tag_' -%}
    {%- set tags = {} -%}
    {%- if spark_cdc._has_schema(schema) -%}
        {%- for identifier in spark_cdc._views_in(schema, prefix ~ '*') -%}
            {%- set view = spark_cdc._relation_in(schema, identifier) -%}
            {%- set text = spark_cdc._view_text(view) -%}
            {%- set manifest = spark_cdc._parse_manifest(text, view) if 'spark_cdc manifest:' in text else {} -%}
            {#- views of an entity whose name begins in the same way are its own -#}
            {%- if manifest.get('tag', {}).get('entity') == ctx.entity.name -%}
                {%- do tags.update({manifest.tag.name: dict(manifest, text=text)}) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(tags) }}
{%- endmacro -%}
