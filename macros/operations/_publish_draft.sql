{#- Makes a draft visible, and cdc_loads complete. Arguments: found (of _drafted_captures()), head (manifest of the last commit). -#}
{%- macro _publish_draft(found, head) -%}
    {%- set first = found.draft.replay['from'] -%}
    {%- set manifest = dict(found.draft, sequence=head.sequence) -%}
    {%- do manifest.pop('replay') -%}
    {%- do spark_cdc._ensure_load_log(found.load_log) -%}
    {#- damage to the loads that it replaces may be why it was made: what can be read of them is recorded -#}
    {%- do spark_cdc._read_despite_damage() -%}
    {%- do spark_cdc._record_missing_loads(found, head) -%}
    {%- do spark_cdc._read_despite_damage(false) -%}
    {%- set older = [] -%}
    {%- if manifest.loads != head.loads -%}  {#- else it was published by a run that ended before it dropped the draft -#}
        {%- do older.extend(spark_cdc._publish(found, manifest, 'the replay from ' ~ first, before=head)) -%}
        {%- set times = spark_cdc._draft_times(found.entity, found.draft) -%}
        {%- do log(found.entity.name ~ ': published the replay from ' ~ first ~ ': ' ~ spark_cdc._counted(times | length, 'load')
            ~ ' up to ' ~ times[-1] ~ '; ' ~ manifest.rows ~ ' rows now', info=true) -%}
    {%- endif -%}
    {%- do spark_cdc._record_missing_loads(found, manifest, now=true) -%}
    {%- do spark_cdc._drop_claims(found, older) -%}
    {%- do spark_cdc._send('drop view if exists ' ~ found.replay) -%}
{%- endmacro -%}
