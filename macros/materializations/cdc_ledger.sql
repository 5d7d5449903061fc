{#- The ledger of an entity: writes one load into partitions of its own. Nothing that was there before is touched,
    and nothing that is written is visible until the manifest names it. An overwrite of named partitions gives the
    same when it is sent twice. --full-refresh does not drop the table (see spark_cdc_wipe). -#}
{% materialization cdc_ledger, adapter='spark' %}
    {%- set entity = spark_cdc.entity(spark_cdc._entity_name()) -%}
    {%- set load = spark_cdc._load_of(sql) -%}
    {%- set columns = spark_cdc._ledger_columns(entity, load.layout) -%}
    {{ run_hooks(pre_hooks) }}

    {%- if not entity.events -%}  {#- <entity>_events has read the source -#}
        {%- do spark_cdc.land(entity, spark_cdc._landing_source(entity), spark_cdc.business_time()) -%}
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


{#- Settings of this session, as far as the write needs them: only the partitions that are written are replaced, rows meet by
    hash instead of being sorted where the hash maps are small, and no operators are fused into a method of more bytes than HotSpot
    compiles (the limit that Spark's configuration names for it). -#}
{%- macro _set_session() -%}
    {%- do run_query('set spark.sql.sources.partitionOverwriteMode = dynamic') -%}
    {%- do run_query('set spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold = 128m') -%}
    {%- do run_query('set spark.sql.codegen.hugeMethodLimit = 8000') -%}
{%- endmacro -%}


{#- The plan that stands at the head of a ledger model's compiled SQL. -#}
{%- macro _load_of(sql) -%}
    {{ return(fromjson(modules.re.search('/[*] spark_cdc load: ([{].*[}]) [*]/', sql).group(1))) }}
{%- endmacro -%}


{#- The relation of the dbt source that an entity's staging reads. -#}
{%- macro _landing_source(entity) -%}
    {%- for unique_id in spark_cdc.entity_node(entity.name).depends_on.nodes if unique_id in graph.sources -%}
        {%- set node = graph.sources[unique_id] -%}
        {{ return(spark_cdc._relation_in(node.schema, node.identifier)) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{%- macro _create_ledger_sql(ledger, columns, file_format) -%}
create table if not exists {{ ledger }} (
    {% for column in columns -%}
    {{ column.at_sql }} {{ column.data_type }}{{ ',' if not loop.last }}
    {% endfor -%}
)
{{ spark_cdc._storage_sql(file_format, ['business_date', 'load_id', 'operation'], ['key_hash', 'nonkey_hash']) }}
{%- endmacro -%}


{#- The write of rows that have the ledger's columns under their declared names. -#}
{%- macro _write_rows_sql(ledger, columns, sql) -%}
insert overwrite table {{ ledger }} partition (business_date, load_id, operation)
select
    {% for column in columns -%}
    {{ spark_cdc._written_sql(column) }}{{ ',' if not loop.last }}
    {% endfor -%}
from (
{{ sql }}
) as rows_of_load
{%- endmacro -%}


{#- The write of a load: its rows, and the record of the load itself, which proves that the write was whole. -#}
{%- macro _write_load_sql(ledger, columns, load, sql) -%}
{{ spark_cdc._write_rows_sql(ledger, columns, sql) }}

union all

select
    {% for column in columns if column.name not in ['business_date', 'load_id', 'operation'] -%}
    {{ spark_cdc._literal(tojson(load)) if column.name == 'note' else 'cast(null as ' ~ column.data_type ~ ')' }} as {{ column.at_sql }},
    {% endfor -%}
    {{ spark_cdc._partition(load) }},
    'L' as operation
{%- endmacro -%}


{#- A column of a load's rows under its physical name; one that is no longer declared is null. -#}
{%- macro _written_sql(column) -%}
    {%- if column.name is none -%}{{ return('cast(null as ' ~ column.data_type ~ ') as ' ~ column.at_sql) }}{%- endif -%}
    {{ return(spark_cdc._aliased(column.sql, column.at_sql)) }}
{%- endmacro -%}


{#- Makes sure that a table has the columns that are written, and returns all that it has, in its order: an insert goes by position. Missing
    ones are added, which harms nobody if the load comes to nothing; those that it has beyond are named none. A ledger that is wiped with
    columns of other types is set aside under another name, not dropped. -#}
{%- macro _settle_columns(entity, relation, columns) -%}
    {%- if load_cached_relation(relation) is none -%}{{ return(columns) }}{%- endif -%}
    {%- set partitions = ['business_date', 'load_id', 'operation'] -%}
    {%- set wanted = {} -%}
    {%- for column in columns -%}{%- do wanted.update({column.at | lower: column}) -%}{%- endfor -%}
    {%- set settled = [] -%}
    {%- set partitioned = [] -%}
    {%- set problems = [] -%}
    {%- for found in adapter.get_columns_in_relation(relation) -%}
        {%- set column = wanted.pop(found.name | lower, none) or {'name': none, 'at_sql': spark_cdc._quote(found.name), 'data_type': found.dtype} -%}
        {%- if spark_cdc._plain_type(column.data_type) != spark_cdc._plain_type(found.dtype) -%}
            {%- do problems.append(relation ~ " has a column '" ~ found.name ~ "' of the type " ~ found.dtype ~ ', and not ' ~ column.data_type) -%}
        {%- endif -%}
        {%- do (partitioned if found.name in partitions else settled).append(column) -%}
    {%- endfor -%}
    {%- set added = [] -%}
    {%- for column in wanted.values() -%}
        {%- do settled.append(column) -%}
        {%- do added.append(column.at_sql ~ ' ' ~ column.data_type) -%}
    {%- endfor -%}
    {%- if not problems -%}
        {%- if added -%}
            {%- do run_query('alter table ' ~ relation ~ ' add columns (' ~ added | join(', ') ~ ')') -%}
            {%- do log(entity.name ~ ': ' ~ relation ~ ' gets the columns ' ~ added | join(', ') ~ '. Sessions that have read it and are still open have to run: '
                ~ 'refresh table ' ~ relation, info=true) -%}
        {%- endif -%}
        {{ return(settled + partitioned) }}
    {%- endif -%}

    {%- if not spark_cdc._is_wiped(entity.name) -%}
        {%- do spark_cdc._refuse_definition(entity, problems) -%}
    {%- endif -%}
    {%- set aside = spark_cdc._sibling(relation.identifier ~ '_before_' ~ local_md5(invocation_id)[:8]) -%}
    {%- do log(entity.name ~ ': the ledger had other columns and is kept as ' ~ aside ~ '; drop it when nobody needs it. '
        ~ 'Sessions that are open already have to run: refresh table ' ~ relation, info=true) -%}
    {%- do run_query('alter table ' ~ relation ~ ' rename to ' ~ aside) -%}
    {{ return(columns) }}
{%- endmacro -%}
