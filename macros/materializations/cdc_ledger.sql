{#- The ledger of an entity: writes one load into partitions of its own. Nothing that was there before is touched,
    and nothing that is written is visible until the manifest names it. An overwrite of named partitions gives the
    same when it is sent twice. --full-refresh does not drop the table (see spark_cdc_wipe). -#}
{% materialization cdc_ledger, adapter='spark' %}
    {%- set entity = spark_cdc.entity(spark_cdc._entity_name()) -%}
    {%- set load = spark_cdc._load_of(sql) -%}
    {%- set columns = spark_cdc._ledger_columns(entity) -%}
    {{ run_hooks(pre_hooks) }}

    {%- if not entity.events -%}  {#- <entity>_events has read the source -#}
        {%- do spark_cdc.land(entity, spark_cdc._landing_source(entity), spark_cdc.business_time()) -%}
    {%- endif -%}

    {%- if load_cached_relation(this) is not none -%}
        {%- do spark_cdc._settle_columns(entity, this, columns) -%}
    {%- endif -%}
    {%- do run_query(spark_cdc._create_ledger_sql(this, columns)) -%}
    {%- do spark_cdc._set_session() -%}
    {%- call statement('main') -%}
        {{ spark_cdc._write_load_sql(this, columns, load, sql) }}
    {%- endcall -%}
    {%- do spark_cdc._hold_rejected(entity, this, load) -%}

    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}


{#- Settings of this session, as far as the write needs them: only the partitions that are written are replaced, and
    rows meet by hash instead of being sorted where the hash maps are small. -#}
{%- macro _set_session() -%}
    {%- do run_query('set spark.sql.sources.partitionOverwriteMode = dynamic') -%}
    {%- do run_query('set spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold = 128m') -%}
{%- endmacro -%}


{#- The plan that stands at the head of a ledger model's compiled SQL. -#}
{%- macro _load_of(sql) -%}
    {{ return(fromjson(modules.re.search('/[*] spark_cdc load: ([{].*[}]) [*]/', sql).group(1))) }}
{%- endmacro -%}


{#- The relation of the dbt source that an entity's staging reads. -#}
{%- macro _landing_source(entity) -%}
    {%- for unique_id in spark_cdc.entity_node(entity.name).depends_on.nodes if unique_id in graph.sources -%}
        {%- set node = graph.sources[unique_id] -%}
        {{ return(api.Relation.create(database=none, schema=node.schema, identifier=node.identifier)) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- Hashes are dear and never repeat, so the two hash columns of Parquet files do without a dictionary. -#}
{%- macro _create_ledger_sql(ledger, columns) -%}
create table if not exists {{ ledger }} (
    {% for column in columns -%}
    {{ column.sql }} {{ column.data_type }}{{ ',' if not loop.last }}
    {% endfor -%}
)
using parquet
partitioned by (business_date, load_id, operation)
options (
    `parquet.enable.dictionary#key_hash` 'false',
    `parquet.enable.dictionary#nonkey_hash` 'false'
)
{%- endmacro -%}


{#- The write of a load: its rows, and the record of the load itself, which proves that the write was whole. -#}
{%- macro _write_load_sql(ledger, columns, load, sql) -%}
insert overwrite table {{ ledger }} partition (business_date, load_id, operation)
select * from (
{{ sql }}
) as rows_of_load

union all

select
    {% for column in columns if column.name not in ['note', 'business_date', 'load_id', 'operation'] -%}
    cast(null as {{ column.data_type }}) as {{ column.sql }},
    {% endfor -%}
    {{ spark_cdc._literal(tojson(load)) }} as note,
    {{ spark_cdc._partition(load) }},
    'L' as operation
{%- endmacro -%}


{#- The ledger must have the columns that are written, in their order: an insert goes by position. One that is wiped
    with other columns is set aside under another name, not dropped. -#}
{%- macro _settle_columns(entity, ledger, columns) -%}
    {%- set found = [] -%}
    {%- for column in adapter.get_columns_in_relation(ledger) -%}
        {%- do found.append(column.name | lower ~ ' ' ~ column.dtype | lower | replace(' ', '')) -%}
    {%- endfor -%}
    {%- set wanted = [] -%}
    {%- for column in columns -%}
        {%- do wanted.append(column.name | lower ~ ' ' ~ column.data_type | replace(' ', '') | replace('integer', 'int')) -%}
    {%- endfor -%}
    {%- if found == wanted -%}
        {{ return('') }}
    {%- endif -%}
    {%- if not spark_cdc._is_wiped(entity.name) -%}
        {%- do spark_cdc._refuse_definition(entity, found, wanted) -%}
    {%- endif -%}
    {%- set aside = spark_cdc._sibling(ledger.identifier ~ '_before_' ~ local_md5(invocation_id)[:8]) -%}
    {%- do log(entity.name ~ ': the ledger had other columns and is kept as ' ~ aside ~ '; drop it when nobody needs it. '
        ~ 'Sessions that are open already have to run: refresh table ' ~ ledger, info=true) -%}
    {%- do run_query('alter table ' ~ ledger ~ ' rename to ' ~ aside) -%}
{%- endmacro -%}
