{#- A manifest that is about to be committed, with what change feeds have to know (docs/changes.md): a load's version is the number of the commit by
    which it came into the manifest, which is the one that it was written for, except in
    recommitted  a list of {after, version, at}: all loads behind `after` (a load, or an empty text) came with that commit, unless theirs is a
                 later one: a replay or redo brought them. Oldest first; entries that decide about no load any more go.
    rewritten    {version, at} of the last commit that took loads away, so that the versions before it can't be told from this manifest.
    Arguments: manifest (with the number of its own commit), before (the manifest that it takes the place of). -#}
{%- macro _versioned_manifest(manifest, before) -%}
    {%- set kept = spark_cdc._common_loads(before.loads, manifest.loads) -%}
    {%- set commit = {'version': manifest.sequence, 'at': spark_cdc._time_now('%Y-%m-%d %H:%M:%S.%f')} -%}
    {%- set after = kept | last | default('') -%}
    {%- set entries = before.recommitted | list -%}
    {%- set foreign = [] -%}
    {%- for load_id in manifest.loads[kept | length:] if not load_id.endswith(manifest.commit) -%}{%- do foreign.append(load_id) -%}{%- endfor -%}
    {%- if foreign -%}
        {%- set entries = entries | selectattr('after', 'lt', after) | list + [dict(commit, after=after)] -%}
    {%- endif -%}
    {%- set needed = [] -%}
    {%- for entry in entries -%}
        {%- set behind = manifest.loads | select('gt', entry.after) | list -%}
        {%- set next = entries[loop.index:][:1] -%}
        {%- if (behind | reject('gt', next[0].after) | list if next else behind) -%}{%- do needed.append(entry) -%}{%- endif -%}
    {%- endfor -%}
    {%- set is_rewritten = kept | length < before.loads | length -%}
    {{ return(dict(manifest, recommitted=needed, rewritten=commit if is_rewritten else before.rewritten)) }}
{%- endmacro -%}
