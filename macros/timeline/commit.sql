{#- A view beside those of an entity, in a schema of its own, because dbt's look at the models'
    schema fails if a view goes while it lasts: <schema>_commits.<entity>_<kind>_<name>. Its text is
    a manifest, so everything that keeps loads understands it. Kinds:
        commit   the claim of a commit, by its number
        tag      a state that somebody gave a name. It has the columns of <entity>_committed, so
                 that what reads that view can read it as well; `tag` says {name, entity, at}
        version  what readers saw before a commit took loads away, from which changes() tells what
                 consumers have to reverse. It is kept for entities that have a change feed, until
                 vacuum drops it, and with it the loads that nobody else names; not where the ledger
                 starts anew, of which nothing can be read. It has no business columns, which may
                 be others by then. -#}
{%- macro _beside(ctx, kind, name) -%}
    {{ return(spark_cdc._relation_in(ctx.schema ~ '_commits', ctx.entity.name ~ '_' ~ kind ~ '_' ~ (name if kind == 'tag' else '%06d' % name))) }}
{%- endmacro -%}


{#- The numbers of the commits of which there is a claim, or of another kind a view (see _beside()),
    asked of the metastore and not of dbt's cache. Names alone are read: `show table extended` would
    fail where another run drops one of them meanwhile. -#}
{%- macro _numbers_beside(ctx, kind='commit') -%}
    {%- set schema, prefix = ctx.schema ~ '_commits', ctx.entity.name ~ '_' ~ kind ~ '_' -%}
    {%- set numbers = [] -%}
    {%- if spark_cdc._mode() == 'load' or spark_cdc._has_schema(schema) -%}
        {%- for name in spark_cdc._views_in(schema, prefix ~ '*') -%}
            {%- set digits = name.removeprefix(prefix) -%}
            {%- do numbers.append(digits | int) if name.startswith(prefix) and digits | length >= 6 and digits.isdigit() -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(numbers) }}
{%- endmacro -%}


{#- Commits a change, unless somebody else committed first: a compare-and-set out of two things that
    every metastore does in one transaction, to create a view only if it is not there, and to alter
    one. It alone knows the order:

    0. What change feeds need of loads that go is kept as a view, see _beside().
    1. Commit number n (the one before it plus 1) is claimed: `create view if not exists
       <schema>_commits.<entity>_commit_<n>`, whose text is the new manifest. Of several processes
       one gets it. A process that reads back another text than its own is refused.
    2. If there is no claim with a higher number, the commit is decided: its rows are written to
       cdc_loads. A higher one means that others have finished this commit and gone on, or that the
       claim was made too late.
    3. `<entity>_committed` is altered to the same text: readers see it. What they see has its rows.
    4. Claims with lower numbers go. The last one stays, so that a process that is late by a commit
       finds it taken.

    A process that dies between 1 and 3 leaves a claim that holds all that is needed: the next run
    finishes the commit (see _current_timeline()). No lock is held at any time. In a dry run it
    only says what it would do.
    Arguments: ctx, change (a dictionary):
        manifest  the new one, with the number of the commit that it builds on
        before    the manifest that it builds on; left out where it has the same rows, as after
                  compact
        what      who commits what, for the message to the one who comes second
        rows      of cdc_loads, with copies, as of _write_log()
        is_move   whether it is an undo or redo, which goes further if it is repeated
        say       what is logged when readers see it
    Raises an error if another process has committed meanwhile. -#}
{%- macro _transact(ctx, change) -%}
    {%- set manifest = spark_cdc._timeline_committed(
        change.manifest, change.get('before'), spark_cdc._run_id8(), spark_cdc._time_now('%Y-%m-%d %H:%M:%S.%f')) -%}
    {%- if spark_cdc._mode() == 'plan' -%}
        {%- do log((change.get('say') or ctx.entity.name ~ ': would commit ' ~ change.what) ~ '. Nothing was changed (execute: false)', info=true) -%}
        {{ return('') }}
    {%- endif -%}
    {%- set feeds = graph.nodes.values() | selectattr('name', 'equalto', ctx.entity.name ~ '_changes') | selectattr('resource_type', 'equalto', 'model') | list
        if manifest.rewritten == manifest.sequence and not spark_cdc._is_reset(ctx.entity.name) else [] -%}
    {%- if feeds -%}  {#- before the commit, so that no crash leaves a gap -#}
        {%- set kept = dict(spark_cdc._timeline_cut(change.before, change.before.loads | length), kept_at=spark_cdc._time_now()) -%}
        {%- set sql -%}
select
    /* spark_cdc manifest: {{ spark_cdc._comment_json(spark_cdc._timeline_stored(kept)) }} */
    load_id
from {{ ctx.public }}
where
    load_id in (
        {%- for some in kept.loads | batch(4) %}
        '{{ some | join("', '") }}'{{ ',' if not loop.last }}
        {%- endfor %}
    )
        {%- endset -%}
        {%- do spark_cdc._make_view(spark_cdc._beside(ctx, 'version', kept.sequence), sql) -%}
    {%- endif -%}
    {%- set text = spark_cdc._manifest_text(ctx, manifest) -%}
    {%- set claim = spark_cdc._beside(ctx, 'commit', manifest.sequence) -%}
    {%- if spark_cdc._mode() != 'load' -%}  {#- else validate() has made it -#}
        {%- do spark_cdc._make_schema(ctx.schema ~ '_commits') -%}
    {%- endif -%}
    {%- do spark_cdc._make_view(claim, text) -%}
    {%- set claimed = spark_cdc._view_text(claim) -%}
    {%- if '"commit": "' ~ manifest.commit ~ '"' not in claimed -%}
        {%- do spark_cdc._refuse_commit(ctx.entity, change, spark_cdc._parse_manifest(claimed, claim)) -%}
    {%- endif -%}
    {%- if spark_cdc._numbers_beside(ctx) | max > manifest.sequence -%}
        {%- do spark_cdc._drop_view(claim) -%}
        {%- set published = spark_cdc._published(ctx) -%}
        {%- if not spark_cdc._is_committed(manifest, published) -%}{%- do spark_cdc._refuse_commit(ctx.entity, change, published) -%}{%- endif -%}
    {%- else -%}
        {%- set gone = spark_cdc._undone_loads(change.before) | reject('in', manifest.loads + spark_cdc._undone_loads(manifest)) | list if change.get('before') else [] -%}
        {%- do spark_cdc._write_log(ctx.write.load_log, ctx.entity, change.get('rows', []), gone, change.get('copies')) -%}
        {#- of a draft, and of a state without loads, a manifest tells nothing of the view that
            readers have -#}
        {%- set exists = (manifest.existed and spark_cdc._mode() == 'load') or spark_cdc._is_there(ctx.committed) -%}
        {%- do spark_cdc._show_manifest(ctx, text, exists) -%}
    {%- endif -%}
    {%- do spark_cdc._drop_claims(ctx, manifest.sequence) -%}
    {%- if change.get('say') -%}{%- do log(change.say, info=true) -%}{%- endif -%}
{%- endmacro -%}


{#- Ends a commit: drops the claims before it. A process that was stopped before it altered the
    view may have hidden what others have committed since: that is shown again. Arguments:
    ctx, sequence (number of the commit). -#}
{%- macro _drop_claims(ctx, sequence) -%}
    {%- set claims = spark_cdc._numbers_beside(ctx) -%}
    {%- if claims and claims | max > sequence -%}{%- do spark_cdc._current_timeline(ctx) -%}{%- endif -%}
    {%- for older in claims | select('lt', sequence) -%}{%- do spark_cdc._drop_view(spark_cdc._beside(ctx, 'commit', older)) -%}{%- endfor -%}
{%- endmacro -%}


{%- macro _refuse_commit(entity, change, other) -%}
    {%- do spark_cdc._is_told(entity.name, 'raced') -%}
    {%- set message -%}
{{ entity.name }}: another run committed first, a load or an operation such as compact (commit {{ other.sequence }}, whose last load is {# -#}
{{ other.loads[-1] or 'none' }}), while {{ change.what }} was on its way, which builds on the state before it. Nothing of it was committed, and readers see what the other run committed. {# -#}
{%- if change.get('is_move') -%}
If that is not the state that was meant, name the one to go back to, for the same command would go on from the present one: {# -#}
spark-cdc undo {{ entity.name }} --to {{ other.loads[-1] or 'LOAD' }}, or an earlier load.
{%- else -%}
Run the same command again.
{%- endif -%}
    {%- endset -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}


{#- The manifest that readers see at this moment, asked of the metastore; dbt's cache has it
    then, too. -#}
{%- macro _published(ctx) -%}
    {%- set view = ctx.committed -%}
    {%- if not spark_cdc._is_there(view) -%}{{ return(spark_cdc._empty_manifest()) }}{%- endif -%}
    {%- set text = spark_cdc._view_text(view) -%}
    {%- set manifest = spark_cdc._parse_manifest(text, view) -%}
    {%- do spark_cdc._cache_view_text(view, text) -%}
    {{ return(manifest) }}
{%- endmacro -%}


{#- The manifest of the last commit. The claims tell its number; where dbt's cache has that commit,
    the names of the claims are all that is read. Where the process of the last one died before
    readers could see it, that is made good here, by commands that load: its rows of cdc_loads, then
    the view. Claims before it stay: they tell that its process did not end (see undo()).
    Arguments: ctx, is_planned (whether a model of the entity has planned this run's load
    already: the others build on what it saw, in dbt's cache, and if somebody has committed
    since, the number of the commit is taken, see _transact()). -#}
{%- macro _current_timeline(ctx, is_planned=false) -%}
    {%- set cached = spark_cdc._cached_manifest(ctx.committed) if spark_cdc._mode() == 'load' else none -%}
    {%- if cached is not none and is_planned -%}{{ return(cached) }}{%- endif -%}
    {%- set claims = spark_cdc._numbers_beside(ctx) -%}
    {%- set newest = claims | max if claims else 0 -%}
    {%- if cached is not none and newest and cached.sequence == newest -%}{{ return(cached) }}{%- endif -%}
    {%- set published = spark_cdc._published(ctx) -%}
    {%- if newest and not published.existed and not spark_cdc._is_there(ctx.ledger) -%}
        {#- of an entity that was dropped; a metastore that does not answer, of which Spark says
            that what it holds is not there, fails here -#}
        {%- do spark_cdc._view_text(spark_cdc._beside(ctx, 'commit', newest)) -%}
        {%- for sequence in claims if spark_cdc._mode() in ['load', 'operate'] -%}{%- do spark_cdc._drop_view(spark_cdc._beside(ctx, 'commit', sequence)) -%}{%- endfor -%}
        {{ return(published) }}
    {%- elif newest > published.sequence -%}
        {%- set claim = spark_cdc._beside(ctx, 'commit', newest) -%}
        {%- set claimed = spark_cdc._view_text(claim) -%}
        {%- set manifest = spark_cdc._parse_manifest(claimed, claim) -%}
        {%- if spark_cdc._mode() not in ['load', 'operate'] -%}
            {{ return(manifest) }}
        {%- endif -%}
        {%- do log(ctx.entity.name ~ ': finishing commit ' ~ newest ~ ', which a run that ended too early had claimed', info=true) -%}
        {%- set ctx = spark_cdc._writing(ctx) -%}
        {%- do spark_cdc._ensure_load_log(ctx.load_log) -%}
        {%- do spark_cdc._write_log(ctx.write.load_log, ctx.entity, spark_cdc._missing_rows(ctx, manifest)) -%}
        {#- the query in a manifest's `show create table` -#}
        {%- set text = 'select\n    ' ~ claimed[claimed.index('/* spark_cdc manifest:'):] | trim -%}
        {%- do spark_cdc._show_manifest(ctx, text, published.existed) -%}
        {{ return(manifest) }}
    {%- endif -%}
    {{ return(published) }}
{%- endmacro -%}


{#- Whether a manifest has been committed, where others have committed meanwhile: it is what readers
    see, or what they see has been built on it.
    Arguments: manifest (with its sequence and commit), published (what readers see). -#}
{%- macro _is_committed(manifest, published) -%}
    {%- if published.sequence == manifest.sequence -%}
        {{ return(published.commit == manifest.commit) }}
    {%- elif 'move' in manifest and manifest.move.load_id.endswith(manifest.commit) -%}
        {{ return(published.get('move') == manifest.move) }}
    {%- endif -%}
    {#- loads that this run has written; a replay publishes those of other runs -#}
    {%- set own = [] -%}
    {%- for load_id in manifest.loads if load_id.endswith(manifest.commit) or load_id == manifest.loads[-1] -%}{%- do own.append(load_id) -%}{%- endfor -%}
    {{ return(own != [] and not own | reject('in', published.loads) | list) }}
{%- endmacro -%}
