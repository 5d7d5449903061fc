{#- The ledger of an entity: writes one load into partitions of its own. Nothing that was there before is touched,
    and nothing that is written is visible until the manifest names it. An overwrite of named partitions gives the
    same when it is sent twice. --full-refresh does not drop the table (see spark_cdc_wipe). -#}
{% materialization cdc_ledger, adapter='spark' %}
    {%- set entity = spark_cdc._entity(spark_cdc._entity_name()) -%}
    {%- set load = spark_cdc._load_of(sql) -%}
    {%- set columns = spark_cdc._ledger_columns(entity, load.layout) -%}
    {{ run_hooks(pre_hooks) }}

    {%- if not entity.events -%}  {#- <entity>_events has read the source -#}
        {%- do spark_cdc._land_load(entity, spark_cdc._landing_source(entity), spark_cdc._business_time()) -%}
    {%- endif -%}

    {%- set existing = load_cached_relation(this) -%}
    {%- if existing is not none -%}
        {%- do spark_cdc._note_file_format(entity, existing) -%}
    {%- endif -%}
    {%- set columns = spark_cdc._settle_columns(entity, this, columns) -%}
    {%- do run_query(spark_cdc._create_ledger_sql(this, columns, entity.file_format)) -%}
    {%- do spark_cdc._set_session() -%}
    {%- call statement('main') -%}
        {{ spark_cdc._write_load_sql(this, columns, load, sql) }}
    {%- endcall -%}
    {%- do spark_cdc._hold_rejected(entity, this, load, columns) -%}

    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}
