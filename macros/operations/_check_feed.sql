{#- Refuses versions that changes() can't tell of. Arguments: entity, head (manifest of the last commit), from_version and to_version as of changes(). -#}
{%- macro _check_feed_versions(entity, head, from_version, to_version) -%}
    {%- set problems = [] -%}
    {%- for name, version in {'from_version': from_version, 'to_version': to_version}.items() if version is not none -%}
        {%- if version is not number or version is boolean or version < 0 or version | int != version -%}
            {%- do problems.append(name ~ " is '" ~ version ~ "'; accepted are whole numbers from 0, or none") -%}
        {%- elif version > head.sequence -%}
            {%- do problems.append(name ~ ' ' ~ version ~ ' is newer than the last commit, ' ~ head.sequence ~ ': take max(_commit_version) of what was taken from '
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


{#- Refuses a version of which nothing is known any more. Argument: oldest (version that still can be asked for). -#}
{%- macro _check_feed_is_kept(entity, head, version, oldest) -%}
    {%- if oldest <= version -%}{{ return('') }}{%- endif -%}
    {%- set message -%}
spark_cdc.changes: {{ entity.name }}: what changed since version {{ version }} can't be told any more: commit {{ oldest }} took loads away, and what was {# -#}
there before it is not kept (vacuum has dropped it, the ledger was wiped, or there was no model {{ entity.name }}_changes yet). Nothing was written. {# -#}
Accepted are from_version {{ oldest }} to {{ head.sequence }}, and none, for a consumer that begins anew: {{ spark_cdc._check_feed_command() }}.
    {%- endset -%}
    {%- do exceptions.raise_compiler_error(message) -%}
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


{#- Rows of two definitions can't be compared: where a commit took loads away and brought others with other columns, consumers begin anew. Arguments: old
    (manifest before the commit), new (manifest, commits, records; it begins with the commit). -#}
{%- macro _check_feed_columns(entity, old, new) -%}
    {%- set came = new.commits | selectattr('version', 'le', new.manifest.rewritten.version) | list -%}
    {%- if came and old.definition != spark_cdc._fingerprint(new.records[came[-1].written_as].definition) -%}
        {%- set message -%}
spark_cdc.changes: {{ entity.name }}: commit {{ new.manifest.rewritten.version }} took loads away that had other columns, types or roles than those that came {# -#}
in their place, so that what it changed can't be told row by row. Nothing was written. Begin anew (from_version none): {{ spark_cdc._check_feed_command() }}.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
{%- endmacro -%}
