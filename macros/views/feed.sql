{#- Refuses to compare loads while the YAML of an entity has other columns than the last commit.
    Arguments: ctx, timeline (its manifest). -#}
{%- macro _check_timeline_columns(ctx, timeline) -%}
    {%- if timeline.definition and not spark_cdc._has_columns_of(ctx.entity, timeline.definition) -%}
        {%- set message -%}
{{ ctx.entity.name }}: the columns of stg_{{ ctx.entity.name }} are not those of the last load, {{ timeline.loads[-1] }}. Load once with {# -#}
the new columns, then compare.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
{%- endmacro -%}


{#- The query of changes(). Each commit's changes are always the same ones, whoever asks, so that
    what was taken up to a version and what has come since add up. A commit that adds loads has
    their rows, I, U and D. One that takes loads away, and perhaps adds others, has the difference
    between the states before and after it: what a consumer has to reverse.
    Arguments: ctx, view (relation of <entity>_changes), from_version, to_version (as of
    changes()). -#}
{%- macro _feed_sql(ctx, view, from_version, to_version) -%}
    {%- set entity, timeline = ctx.entity, spark_cdc._read_manifest(ctx.committed) -%}
    {%- set last = timeline.sequence if to_version is none else to_version -%}
    {%- set first = last if from_version is none else from_version -%}
    {%- do spark_cdc._check_feed_versions(entity, timeline, from_version, to_version) -%}
    {%- set nothing = 'select *\nfrom ' ~ view ~ '\nwhere false' -%}
    {%- if not timeline.loads and not timeline.rewritten -%}{{ return(nothing) }}{%- endif -%}
    {%- do spark_cdc._check_timeline_columns(ctx, timeline) -%}

    {#- the manifests that together tell of all versions after the first, the oldest first: each
        of those from its last rewriting on -#}
    {%- set told, manifests = [], spark_cdc._manifests_since(ctx, timeline, first) -%}
    {%- set oldest = manifests[0].rewritten -%}
    {%- if oldest > first -%}
        {%- set message -%}
spark_cdc.changes: {{ entity.name }}: what changed since version {{ first }} can't be told any more: commit {{ oldest }} took loads away, and what was {# -#}
there before it is not kept (vacuum has dropped it, the ledger was reset, or there was no model {{ entity.name }}_changes yet). Nothing was written. {# -#}
Accepted are from_version {{ oldest }} to {{ timeline.sequence }}, and none, for a consumer that begins anew: {{ spark_cdc._check_feed_command() }}.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- for manifest in manifests if manifest.rewritten <= last -%}
        {%- set records = spark_cdc._load_records(ctx.public, manifest.loads) -%}
        {%- do spark_cdc._check_feed_records(entity, manifest, records) -%}
        {%- do told.append({'manifest': manifest, 'commits': spark_cdc._commits(manifest, records), 'records': records}) -%}
    {%- endfor -%}
    {%- set source = spark_cdc._across_changes(entity, ctx.public, timeline.layout) -%}
    {%- if from_version is none -%}
        {{ return(spark_cdc._feed_state_sql(entity, source, told[-1], last) or nothing) }}
    {%- endif -%}
    {%- set parts = [] -%}
    {%- for one in told -%}
        {%- set version = one.manifest.rewritten -%}
        {%- if version > first -%}
            {#- rows of two definitions can't be compared -#}
            {%- set came = one.commits | selectattr('version', 'le', version) | map(attribute='written_as') | list -%}
            {%- if came and told[loop.index0 - 1].manifest.definition != spark_cdc._fingerprint(one.records[came[-1]].definition) -%}
                {%- set message -%}
spark_cdc.changes: {{ entity.name }}: commit {{ version }} took loads away that had other columns, types or roles than those that came {# -#}
in their place, so that what it changed can't be told row by row. Nothing was written. Begin anew (from_version none): {{ spark_cdc._check_feed_command() }}.
                {%- endset -%}
                {%- do exceptions.raise_compiler_error(message) -%}
            {%- endif -%}
            {%- do parts.append(spark_cdc._feed_difference_sql(entity, source, told[loop.index0 - 1], one)) -%}
        {%- endif -%}
        {%- set until = told[loop.index].manifest.rewritten - 1 if not loop.last else last -%}
        {%- do parts.append(spark_cdc._feed_loads_sql(entity, source, one, [version, first] | max, until)) -%}
    {%- endfor -%}
    {{ return(parts | select | join('\n\nunion all\n\n') or nothing) }}
{%- endmacro -%}


{#- What the loads of some commits changed. Arguments: one (manifest, commits, records), after
    and until (versions). Returns a query, or an empty text. -#}
{%- macro _feed_loads_sql(entity, source, one, after, until) -%}
    {%- set commits = one.commits | selectattr('version', 'gt', after) | selectattr('version', 'le', until) | list -%}
    {%- if not commits -%}{{ return('') }}{%- endif -%}
    {%- set before = spark_cdc._state_at_version(one.manifest, one.commits, after) -%}
    {%- set prior = spark_cdc._rows_of_keys_sql(source, 'updated', before, spark_cdc._feed_columns(entity), spark_cdc._operations('changes'))
        if before.loads else none -%}
    {%- set sql -%}
select *
from (
    with commits as (
        {{ spark_cdc._commit_values_sql(entity, commits) | indent(8) }}
    ),

    changed as (
        {{ spark_cdc._change_rows_sql(entity, source, commits) | indent(8) }}
    )
    {%- if prior %},

    updated as (
        select distinct key_hash
        from changed
        where operation = 'U'
    ),

    prior as (
        {{ prior | indent(8) }}
    )
    {%- endif %}

    {{ spark_cdc._changes_of_loads_sql(entity, 'changed', 'prior' if prior else none) | indent(4) }}
) as changes_of_loads
    {%- endset -%}
    {{ return(sql) }}
{%- endmacro -%}


{#- What a commit changed that took loads away: of the keys that these, or the loads that came in
    their place, had changed, the row before and the one after. A row that is deleted bears the
    values that it had before. What is only taken back has the load that had brought it.
    Arguments: old and new (each manifest, commits, records; the new ones begin with the
    commit). -#}
{%- macro _feed_difference_sql(entity, source, old, new) -%}
    {%- set version, filled = new.manifest.rewritten, spark_cdc._filled_columns(entity, [old.manifest, new.manifest]) -%}
    {%- set came = new.commits | selectattr('version', 'le', version) | list -%}
    {%- set same = spark_cdc._common_loads(old.commits | map(attribute='load_id') | list, came | map(attribute='load_id') | list) | length -%}
    {%- set at = came | selectattr('version', 'equalto', version) | map(attribute='at') | list
        | last | default(new.manifest.times.rewritten) -%}
    {%- set commits = [] -%}
    {%- for one in old.commits[same:] -%}{%- do commits.append(dict(one, version=0)) -%}{%- endfor -%}
    {%- for one in came[same:] -%}{%- do commits.append(dict(one, version=1)) -%}{%- endfor -%}
    {%- set common = spark_cdc._state_after_commits(old.manifest, old.commits, same) -%}
    {%- set changed -%}
select
    *,
    _commit_version = 1 as cdc__is_after
from (
    {{ spark_cdc._change_rows_sql(entity, source, commits) | indent(4) }}
) as changes
    {%- endset -%}
    {%- set sql -%}
select *
from (
    with commits as (
        {{ spark_cdc._commit_values_sql(entity, commits) | indent(8) }}
    ),

    {{ spark_cdc._compared_states_ctes(source, changed, common, spark_cdc._feed_columns(entity), spark_cdc._operations('changes')) | indent(4) }},

    compared as (
        select
            *,
            coalesce(lag(cdc__row_state) over of_key, lead(cdc__row_state) over of_key) as cdc__other_row
        from (
            select
                *,
                struct(operation, nonkey_hash, eff_start_date, business_date, load_id
                    {{- ', ' ~ spark_cdc._hash(filled) ~ ' as filled_hash' if filled }}) as cdc__row_state
            from states
        ) as stated
        window of_key as (partition by key_hash order by cdc__is_after)
    ),

    told as (
        select
            *,
            case
                when operation = 'D' then null
                when cdc__other_row is null or cdc__other_row.operation = 'D' then if(cdc__is_after, 'insert', 'delete')
                when not (cdc__other_row.nonkey_hash <=> nonkey_hash and cdc__other_row.eff_start_date <=> eff_start_date
                        {{- ' and cdc__other_row.filled_hash <=> cdc__row_state.filled_hash' if filled }})
                    then if(cdc__is_after, 'update_postimage', 'update_preimage')
            end as cdc__change_type
        from compared
    )

    select
        {{ spark_cdc._change_image_sql(entity) | join(',\n        ') }},
        if(cdc__change_type = 'delete', coalesce(cdc__other_row.eff_start_date, eff_start_date), eff_start_date) as eff_start_date,
        cdc__change_type as _change_type,
        cast({{ version }} as bigint) as _commit_version,
        {{ spark_cdc._commit_time_sql(at) }} as _commit_timestamp,
        {%- for column in ['business_date', 'load_id'] %}
        if(cdc__is_after, coalesce({{ column }}, cdc__other_row.{{ column }}), coalesce(cdc__other_row.{{ column }}, {{ column }})) as {{ column }}
        {{- ',' if not loop.last }}
        {%- endfor %}
    from told
    where cdc__change_type is not null
) as changes_of_commit
    {%- endset -%}
    {{ return(sql) }}
{%- endmacro -%}


{#- The columns that a replay has filled in loads of some manifests: hashes of loads from before the
    column don't have them. -#}
{%- macro _filled_columns(entity, manifests) -%}
    {%- set names, columns = [], [] -%}
    {%- for entry in manifests | map(attribute='entries') | sum(start=[]) -%}{%- do names.extend((entry.layout.get('filled') or {}) | list) -%}{%- endfor -%}
    {%- for column in entity.stored if column.name | lower in names -%}{%- do columns.append(column) -%}{%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- The columns of _change_rows_sql(), of rows that are no change: those of the load are null. -#}
{%- macro _feed_columns(entity) -%}
    {{ return(entity.stored | map(attribute='sql') | list + [
        'key_hash', 'nonkey_hash', 'operation', 'eff_start_date', 'cast(null as date) as business_date', 'cast(null as string) as load_id',
        'cast(null as bigint) as _commit_version', 'cast(null as timestamp) as _commit_timestamp']) }}
{%- endmacro -%}


{#- What a consumer gets that has nothing yet: the state at a version, as inserts. -#}
{%- macro _feed_state_sql(entity, source, one, version) -%}
    {%- set state = spark_cdc._state_at_version(one.manifest, one.commits, version) -%}
    {%- if not state.commits -%}{{ return('') }}{%- endif -%}
    {%- set columns = entity.stored | map(attribute='sql') | list + ['key_hash', 'nonkey_hash', 'eff_start_date', 'business_date', 'load_id'] -%}
    {%- set sql -%}
select
    {{ spark_cdc._change_image_sql(entity) | join(',\n    ') }},
    eff_start_date,
    'insert' as _change_type,
    cast({{ version }} as bigint) as _commit_version,
    {{ spark_cdc._commit_time_sql(state.commits[-1].at) }} as _commit_timestamp,
    business_date,
    load_id
from (
    {{ (spark_cdc._rows_of_keys_sql(source, none, state, columns, spark_cdc._operations('changes')) if state.until else spark_cdc._state_sql(
        source, spark_cdc._in_loads([state.base or '']), spark_cdc._in_loads(state.log) if state.log else none,
        columns, spark_cdc._is_few(entity, one.manifest.log_rows))) | indent(4) }}
) as state
    {%- endset -%}
    {{ return(sql) }}
{%- endmacro -%}


{#- Commits as a query with the columns that _change_rows_sql() reads. -#}
{%- macro _commit_values_sql(entity, commits) -%}
select *
from
    values
    {%- for commit in commits %}
    ('{{ commit.written_as }}', {{ spark_cdc._time_literal(entity, spark_cdc._load_time(commit.load_id)) }}, '{{ commit.load_id }}', {# -#}
    {{ commit.version }}L, {{ spark_cdc._commit_time_sql(commit.at) }}){{ ',' if not loop.last }}
    {%- endfor %}
        as commits (written_as, business_time, load_id, _commit_version, _commit_timestamp)
{%- endmacro -%}


{#- The time of a commit (UTC, as text) as an expression. -#}
{%- macro _commit_time_sql(at) -%}{{ return("timestamp'" ~ at ~ " UTC'" if at else 'cast(null as timestamp)') }}{%- endmacro -%}


{#- Refuses versions that changes() can't tell of. Arguments: entity, timeline (manifest of the last
    commit), from_version and to_version as of changes(). -#}
{%- macro _check_feed_versions(entity, timeline, from_version, to_version) -%}
    {%- set problems = [] -%}
    {%- for name, version in {'from_version': from_version, 'to_version': to_version}.items() if version is not none -%}
        {%- if version is not number or version is boolean or version < 0 or version | int != version -%}
            {%- do problems.append(name ~ " is '" ~ version ~ "'; accepted are whole numbers from 0, or none") -%}
        {%- elif version > timeline.sequence -%}
            {%- do problems.append(name ~ ' ' ~ version ~ ' is newer than the last commit, ' ~ timeline.sequence ~ ': take max(_commit_version) of what was taken from '
                ~ 'this entity; of one that was dropped and made anew, consumers begin anew, too (from_version none)') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not problems and from_version is not none and to_version is not none and from_version > to_version -%}
        {%- do problems.append('from_version ' ~ from_version ~ ' is greater than to_version ' ~ to_version ~ ': the changes after the one, up to the other, '
            ~ 'are given, so from_version is the older') -%}
    {%- endif -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error('spark_cdc.changes: ' ~ entity.name ~ ': ' ~ problems | join('; ') ~ '. Nothing was written.') -%}
    {%- endif -%}
{%- endmacro -%}


{#- The command by which the model that asks begins anew. -#}
{%- macro _check_feed_command() -%}
    {{ return('dbt run --full-refresh --select ' ~ (model.name if model is defined and model and model.name else 'MODEL')) }}
{%- endmacro -%}


{#- Refuses loads without records, of which nobody can tell whether they are whole. -#}
{%- macro _check_feed_records(entity, manifest, records) -%}
    {%- set missing = manifest.loads | reject('in', records) | list -%}
    {%- if missing -%}
        {%- do exceptions.raise_compiler_error('spark_cdc.changes: ' ~ entity.name ~ ': the ledger has no record of ' ~ missing | join(', ')
            ~ '. Nothing was written. Run spark-cdc verify --select ' ~ entity.name ~ ', which says how to repair it.') -%}
    {%- endif -%}
{%- endmacro -%}
