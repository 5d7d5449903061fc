{#- The events of a load, written into a partition of their own. What other loads left there goes, unless the entity
    archives its events: only the load at hand is read. -#}
{% materialization cdc_events, adapter='spark' %}
    {%- set entity = spark_cdc.entity(spark_cdc._entity_name()) -%}
    {%- set load = spark_cdc._load_of(sql) -%}
    {%- set columns = spark_cdc._event_columns(entity, load.layout) + spark_cdc._placed_columns([
            {'name': 'business_date', 'sql': 'business_date', 'data_type': 'date'}, {'name': 'load_id', 'sql': 'load_id', 'data_type': 'string'}], {}) -%}
    {{ run_hooks(pre_hooks) }}

    {%- do spark_cdc.land(entity, spark_cdc._landing_source(entity), spark_cdc.business_time()) -%}

    {%- set columns = spark_cdc._settle_columns(entity, this, columns) -%}
    {%- do run_query(spark_cdc._create_events_sql(this, columns)) -%}
    {%- if not entity.events.archive -%}
        {%- do spark_cdc._drop_other_events(this) -%}
    {%- endif -%}
    {%- do spark_cdc._set_session() -%}
    {%- call statement('main') -%}
        {{ spark_cdc._write_events_sql(this, columns, sql) }}
    {%- endcall -%}

    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}


{%- macro _create_events_sql(events, columns) -%}
create table if not exists {{ events }} (
    {% for column in columns -%}
    {{ column.at_sql }} {{ column.data_type }}{{ ',' if not loop.last }}
    {% endfor -%}
)
using parquet
partitioned by (business_date, load_id)
options (
    `parquet.enable.dictionary#key_hash` 'false',
    `parquet.enable.dictionary#event_hash` 'false'
)
{%- endmacro -%}


{#- Partitions bear the load's name, which no other attempt has. -#}
{%- macro _write_events_sql(events, columns, sql) -%}
insert overwrite table {{ events }} partition (business_date, load_id)
select
    {% for column in columns -%}
    {{ spark_cdc._written_sql(column) }}{{ ',' if not loop.last }}
    {% endfor -%}
from (
{{ sql }}
) as events_of_load
{%- endmacro -%}


{%- macro _drop_other_events(events) -%}
    {%- set partitions = [] -%}
    {%- for row in spark_cdc._query('show partitions ' ~ events) -%}
        {%- set parts = row.partition.split('/') -%}
        {%- do partitions.append('partition (business_date = ' ~ spark_cdc._literal(parts[0].split('=')[1]) ~ ', load_id = ' ~ spark_cdc._literal(parts[1].split('=')[1]) ~ ')') -%}
    {%- endfor -%}
    {%- if partitions -%}
        {%- do run_query('alter table ' ~ events ~ ' drop if exists ' ~ partitions | join(', ')) -%}
    {%- endif -%}
{%- endmacro -%}
