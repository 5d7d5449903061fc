{#- The events of a load, written into a partition of their own. Those of earlier loads go after the commit, unless the entity
    archives its events: only the load at hand is read. In a replay from the archive they are taken from the partition of the
    load that is rebuilt. -#}
{% materialization cdc_events, adapter='spark' %}
    {%- set entity = spark_cdc._entity(spark_cdc._entity_name()) -%}
    {%- set load = spark_cdc._load_of(sql) -%}
    {%- set columns = spark_cdc._event_columns(entity, load.layout) + spark_cdc._placed_columns([
            {'name': 'business_date', 'sql': 'business_date', 'data_type': 'date'}, {'name': 'load_id', 'sql': 'load_id', 'data_type': 'string'}], {}) -%}
    {{ run_hooks(pre_hooks) }}

    {%- if (spark_cdc._replay() or {}).get('source') == 'archive' -%}
        {%- do spark_cdc._check_archive(entity, this, load) -%}
    {%- else -%}
        {%- do spark_cdc._land_load(entity, spark_cdc._landing_source(entity), spark_cdc._business_time()) -%}
    {%- endif -%}

    {%- set existing = load_cached_relation(this) -%}
    {%- if existing is not none -%}
        {%- do spark_cdc._note_file_format(entity, existing) -%}
    {%- endif -%}
    {%- set columns = spark_cdc._settle_columns(entity, this, columns) -%}
    {%- do run_query(spark_cdc._create_events_sql(this, columns, entity.file_format)) -%}
    {%- do spark_cdc._set_session() -%}
    {%- call statement('main') -%}
        {{ spark_cdc._write_events_sql(this, columns, sql) }}
    {%- endcall -%}

    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}
