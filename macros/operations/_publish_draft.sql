{%- macro _publish_draft(found) -%}
    {%- set name = found.entity.name -%}
    {%- set load_log = ref('spark_cdc', 'cdc_loads') -%}
    {%- set manifest = dict(found.draft, sequence=found.head.sequence + 1, commit=local_md5(invocation_id)[:8]) -%}
    {%- set replay = manifest.pop('replay') -%}
    {%- do spark_cdc._ensure_load_log(load_log) -%}
    {%- do spark_cdc._record_missing_loads(load_log, found.entity, found.ledger, found.head) -%}
    {%- if manifest.loads != found.head.loads -%}  {#- else it was published by a run that ended before it dropped the draft -#}
        {%- set text = spark_cdc._committed_sql(found.entity, found.ledger, manifest) -%}
        {%- do spark_cdc._check_manifest_size(found.entity, text) -%}
        {%- do spark_cdc._publish(name, found.committed, text, manifest, 'the replay from ' ~ replay['from']) -%}
        {%- set times = spark_cdc._times_of_draft(found.entity, found.draft) -%}
        {%- do log(
            name ~ ': published the replay from ' ~ replay['from'] ~ ': ' ~ spark_cdc._counted(times | length, 'load')
            ~ ' up to ' ~ times[-1] ~ '; ' ~ manifest.rows ~ ' rows now', info=true
        ) -%}
    {%- endif -%}
    {%- do spark_cdc._record_missing_loads(load_log, found.entity, found.ledger, manifest, now=true) -%}
    {%- do run_query('drop view if exists ' ~ found.replay) -%}
{%- endmacro -%}
