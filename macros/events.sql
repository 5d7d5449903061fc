{#- The model <entity>_events: the change events of this load, typed and judged, in a partition of their own; the archive
    of all loads where the entity has `archive: true`. The ledger reads it, so that the source is parsed once. Returns
    the model's SQL, which begins with the load's name as a comment. -#}
{%- macro events() -%}
    {{- config(materialized='cdc_events') -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set incoming = ref('stg_' ~ name) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- neither graph nor server at parse time -#}
    {%- set entity = spark_cdc._entity(name) -%}
    {%- set load = spark_cdc._plan_run(entity).load -%}
    {%- do spark_cdc._check_definition(entity, load, spark_cdc._sibling(name ~ '_ledger'), load.keep) -%}
    {%- if (spark_cdc._replay() or {}).get('source') == 'archive' -%}
        {%- set incoming = spark_cdc._replayed_events(entity, load, this) -%}
    {%- endif -%}
    {%- set names = [] -%}
    {%- for column in spark_cdc._event_columns(entity) -%}{%- do names.append(column.sql) -%}{%- endfor -%}
    {{ return(
        '/* spark_cdc load: ' ~ spark_cdc._comment_json({'load_id': load.load_id, 'business_time': load.business_time, 'replaced': load.replaced, 'layout': load.layout}) ~ ' */\nselect\n    '
        ~ names | join(',\n    ') ~ ',\n    ' ~ spark_cdc._partition(load) ~ '\nfrom ' ~ incoming
    ) }}
{%- endmacro -%}
