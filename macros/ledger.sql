{#- The model <entity>_ledger: what this load writes. Its rows stay invisible until <entity>_committed names the
    load. Arguments: events (whether the entity's load type is events: it then reads <entity>_events). Returns the
    model's SQL, which begins with the plan of the load as a comment. -#}
{%- macro ledger(events=false) -%}
    {{- config(materialized='cdc_ledger') -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set incoming = ref(name ~ '_events') if events else ref('stg_' ~ name) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- neither graph nor server at parse time -#}
    {%- set entity = spark_cdc._entity(name) -%}
    {%- set planned = spark_cdc._plan_run(entity) -%}
    {%- set manifest = planned.manifest -%}
    {%- set load = planned.load -%}
    {%- do load.update({
        'started_at': modules.datetime.datetime.now(modules.pytz.utc).strftime('%Y-%m-%d %H:%M:%S.%f'),
        'definition': spark_cdc._definition(entity),
        'invocation_id': invocation_id,
        'dbt_version': dbt_version,
        'spark_cdc_version': spark_cdc._version(),
    }) -%}
    {%- set keep = load.pop('keep') -%}
    {%- set prior = spark_cdc._check_definition(entity, load, this, keep, not entity.events) or spark_cdc._laid_out(entity, this, load.layout) -%}
    {%- set broadcast = spark_cdc._is_log_small(entity, manifest) -%}
    {%- if entity.events -%}
        {%- set of_load = spark_cdc._events_of_load(entity, incoming, load) -%}
        {%- do load.update({'events': spark_cdc._summarized(entity, of_load, load, prior)}) -%}
        {%- set sql = spark_cdc._tag_events_sql(entity, load, of_load, prior, load.events, broadcast) -%}
    {%- else -%}
        {%- set sql = spark_cdc._tag_sql(entity, load, incoming, prior, broadcast) -%}
    {%- endif -%}
    {{ return('/* spark_cdc load: ' ~ spark_cdc._comment_json(load) ~ ' */\n' ~ sql) }}
{%- endmacro -%}
