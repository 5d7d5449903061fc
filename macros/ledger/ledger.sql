{#- The model <entity>_ledger: what this load writes. Its rows stay invisible until <entity>_committed names the
    load. Returns the model's SQL, which begins with the plan of the load as a comment. -#}
{%- macro ledger() -%}
    {{- config(materialized='cdc_ledger') -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set incoming = ref('stg_' ~ name) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- neither graph nor server at parse time -#}
    {%- set entity = spark_cdc.entity(name) -%}
    {%- set time = spark_cdc.business_time() -%}
    {%- if time is none -%}
        {#- dbt docs, compile and list have no business date; loads are refused without one by validate() -#}
        {%- set time = modules.datetime.datetime(1970, 1, 1) -%}
        {%- set manifest = spark_cdc._empty_manifest() -%}
    {%- else -%}
        {%- set manifest = spark_cdc.read_manifest(spark_cdc._sibling(name ~ '_committed')) -%}
    {%- endif -%}
    {%- set load = spark_cdc.plan_load(entity, manifest, time, spark_cdc._is_wiped(name)) -%}
    {%- do load.update({
        'started_at': modules.datetime.datetime.now(modules.pytz.utc).strftime('%Y-%m-%d %H:%M:%S.%f'),
        'definition': spark_cdc._definition(entity),
        'invocation_id': invocation_id,
        'dbt_version': dbt_version,
        'spark_cdc_version': spark_cdc.version(),
    }) -%}
    {%- set keep = load.pop('keep') -%}
    {%- do spark_cdc._check_definition(entity, load, manifest, this) -%}
    {{ return(
        '/* spark_cdc load: ' ~ spark_cdc._comment_json(load) ~ ' */\n'
        ~ spark_cdc.tag_sql(entity, load, incoming, this, spark_cdc._is_log_small(entity, manifest))
    ) }}
{%- endmacro -%}


{#- A relation in the schema of the model at hand. -#}
{%- macro _sibling(identifier) -%}
    {{ return(api.Relation.create(database=none, schema=model['schema'], identifier=identifier)) }}
{%- endmacro -%}


{#- Whether the ledger of an entity is to start anew: asked for in so many words only. -#}
{%- macro _is_wiped(name) -%}
    {%- set wipe = var('spark_cdc_wipe', []) or [] -%}
    {{ return(flags.FULL_REFRESH and name in ([wipe] if wipe is string else wipe)) }}
{%- endmacro -%}


{#- Whether the rows written since the checkpoint are few enough for their keys to be broadcast. -#}
{%- macro _is_log_small(entity, manifest) -%}
    {{ return((manifest.log_rows or 0) <= entity.checkpoint.rows) }}
{%- endmacro -%}


{#- What the hashes of an entity are computed of, as a dictionary from column to role and type: if it changes, the
    stored hashes can't be compared with new ones. -#}
{%- macro _definition(entity) -%}
    {%- set columns = {'hash specification': 'version ' ~ spark_cdc._hash_version()} -%}
    {%- for column in entity.stored -%}
        {%- do columns.update({column.name: column.role ~ ' ' ~ column.data_type}) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}
