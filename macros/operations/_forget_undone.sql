{#- Loads that were undone so long ago that redo is no longer to bring them back. The manifest forgets them, by a commit, before they are
    dropped: a redo at the same time is either before it, or refused. Arguments: operated (capture), manifest, retention_hours, execute. Returns
    the loads. -#}
{%- macro _forget_undone(operated, manifest, retention_hours, execute) -%}
    {%- set kept, forgotten = [], [] -%}
    {%- if manifest.definition and not spark_cdc._has_columns_of(operated.entity, manifest.definition) -%}
        {{ return([]) }}  {#- the new text of <entity>_committed would have the columns that the YAML declares #}
    {%- endif -%}
    {%- for step in manifest.get('undone', []) -%}
        {%- set age = modules.datetime.datetime.now(modules.pytz.utc).replace(tzinfo=none)
            - modules.datetime.datetime.strptime(step.at, '%Y-%m-%d %H:%M:%S') -%}
        {%- do kept.append(step) if age.total_seconds() < retention_hours * 3600 else forgotten.extend(step.loads) -%}
    {%- endfor -%}
    {%- if forgotten and execute -%}
        {%- set text = spark_cdc._counted(forgotten | length, 'load') ~ ' (' ~ forgotten | join(', ') ~ ')' -%}
        {%- do spark_cdc._drop_claims(operated, spark_cdc._publish(operated, dict(manifest, undone=kept), 'a vacuum of loads that were undone')) -%}
        {%- do log(operated.entity.name ~ ': redo can no longer bring back ' ~ text, info=true) -%}
    {%- endif -%}
    {{ return(forgotten) }}
{%- endmacro -%}
