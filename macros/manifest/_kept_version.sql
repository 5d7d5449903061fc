{#- What readers saw before a commit took loads away: a copy of that manifest's figures and loads as a view beside the claims,
    <schema>_commits.<entity>_version_<n>, from which changes() tells what consumers have to reverse. It is kept for entities that have a change feed,
    until vacuum drops it, and with it the loads that nobody else names. -#}
{%- macro _kept_version(capture, sequence) -%}
    {{ return(spark_cdc._relation_in(spark_cdc._claims_schema(capture), '%s_version_%06d' % (capture.entity.name, sequence))) }}
{%- endmacro -%}


{#- The manifests that are kept: a dictionary from the number of the commit to the manifest, with kept_at (UTC, when the next one took its place) and text. -#}
{%- macro _kept_versions(capture) -%}
    {%- set schema, prefix = spark_cdc._claims_schema(capture), capture.entity.name ~ '_version_' -%}
    {%- set kept = {} -%}
    {%- if spark_cdc._query('show schemas like ' ~ spark_cdc._literal(schema)) -%}
        {%- for row in spark_cdc._query('show views in ' ~ spark_cdc._quote(schema) ~ ' like ' ~ spark_cdc._literal(prefix ~ '*'))
                if modules.re.fullmatch(prefix ~ '[0-9]{6,}', row.viewName) -%}
            {%- set view = spark_cdc._relation_in(schema, row.viewName) -%}
            {%- set text = spark_cdc._view_text(view) -%}
            {%- do kept.update({row.viewName[prefix | length:] | int: dict(spark_cdc._parse_manifest(text, view), text=text)}) -%}
        {%- endfor -%}
    {%- endif -%}
    {{ return(kept) }}
{%- endmacro -%}


{#- Keeps a manifest, of which the next commit takes loads away: before that commit, so that no crash leaves a gap. Where it comes to nothing this is
    one view too many. The view has no business columns, which may be others by then. Not where the ledger starts anew, of which nothing can be read. -#}
{%- macro _write_kept_version(capture, manifest) -%}
    {%- set models = graph.nodes.values() | selectattr('name', 'equalto', capture.entity.name ~ '_changes') | selectattr('resource_type', 'equalto', 'model') -%}
    {%- if not models | list or spark_cdc._is_wiped(capture.entity.name) -%}{{ return('') }}{%- endif -%}
    {%- set figures = {} -%}
    {%- for name in ['sequence', 'commit', 'definition', 'log_rows', 'recommitted', 'rewritten'] -%}{%- do figures.update({name: manifest.get(name)}) -%}{%- endfor -%}
    {%- set sql -%}
create view if not exists {{ spark_cdc._kept_version(capture, manifest.sequence) }} as
select
    /* spark_cdc manifest: {{ spark_cdc._comment_json(dict(figures, kept_at=spark_cdc._time_now())) }} */
    load_id
from {{ capture.masked }}
where
    load_id in (
        '{{ manifest.loads | join("',\n        '") }}'
    )
    {%- endset -%}
    {%- do spark_cdc._send(sql) -%}
{%- endmacro -%}
