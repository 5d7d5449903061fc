{#- Change feeds, in the words of Delta (docs/changes.md). Without arguments it is the model
    <entity>_changes: the changes of all loads that count. With the name of an entity it is a query
    of what changed from one version to another, for those who keep something up to date:
        select * from ({{ '{{' }} spark_cdc.changes('orders', from_version) {{ '}}' }}) as changes
    Arguments: entity (name), from_version (the version that the consumer has, whose own changes
    are not among those given; none if it has nothing: it gets the state as inserts), to_version
    (the last whose changes are given; none for the newest). Returns a query. -#}
{%- macro changes(entity=none, from_version=none, to_version=none) -%}
    {%- if entity is not none -%}
        {%- set view = spark_cdc._unsampled(ref(entity ~ '_changes')) -%}
        {#- the graph is not there at parse time -#}
        {%- if not execute -%}{{ return('') }}{%- endif -%}
        {%- do spark_cdc._entity(entity) -%}  {#- or what is wrong with it -#}
        {%- set loaded = spark_cdc._entity_as_loaded(entity, spark_cdc.entity_node(entity), view.schema) -%}
        {{ return(spark_cdc._feed_sql(spark_cdc._context(loaded, view.schema), view, from_version, to_version)) }}
    {%- endif -%}
    {{ return(spark_cdc._view_query(spark_cdc._changes_sql)) }}
{%- endmacro -%}


{#- Changes in the words of Delta's change data feed as SQL: a row for what an insert or a delete is
    about, two for an update, as it was and as it is.
    Arguments: entity, changed (relation or CTE with the I, U and D rows of some loads: the stored
    columns, key_hash, nonkey_hash, operation, eff_start_date, business_date, load_id,
    _commit_version, _commit_timestamp), prior (CTE with the same columns: rows that were there
    before; none if the loads are all that there are).
    Returns a query. -#}
{%- macro _changes_of_loads_sql(entity, changed, prior=none) -%}
{%- set of_commit = ['_commit_version', '_commit_timestamp', 'business_date', 'load_id'] -%}
select
    {{ spark_cdc._change_image_sql(entity) | join(',\n    ') }},
    eff_start_date,
    case operation when 'I' then 'insert' when 'U' then 'update_postimage' else 'delete' end as _change_type,
    {{ of_commit | join(',\n    ') }}
from {{ changed }}

union all

select
    {{ spark_cdc._change_image_sql(entity) | join(',\n    ') }},
    eff_start_date,
    'update_preimage' as _change_type,
    cdc__next_change.{{ of_commit | join(',\n    cdc__next_change.') }}
from (
    select
        *,
        lead(struct(operation, {{ of_commit | join(', ') }})) over (partition by key_hash order by eff_start_date) as cdc__next_change
    from {{ changed if prior is none else '(
        select *
        from ' ~ changed ~ '

        union all

        select *
        from ' ~ prior ~ '
    ) as known' }}
) as followed
where cdc__next_change.operation = 'U'
{%- endmacro -%}


{#- The row that a change is about, as a list of expressions. -#}
{%- macro _change_image_sql(entity) -%}
    {{ return(entity.stored | map(attribute='sql') | list + [
        spark_cdc._hex('key_hash') ~ ' as key_hash', spark_cdc._hex('nonkey_hash') ~ ' as nonkey_hash']) }}
{%- endmacro -%}


{#- The query of <entity>_changes: the changes of all loads that count. Which commit brought a load
    is told by the loads' own records, so that the text stays as it is.
    Arguments: entity, committed (relation or CTE with the columns of _committed_sql()). -#}
{%- macro _changes_sql(entity, committed) -%}
with records as (
    select
        load_id as written_as,
        from_json(
            load_record,
            'load_id string, version bigint, started_at string, compacted array<string>, {# -#}
commits array<struct<load_id: string, version: bigint, at: string>>'
        ) as record,
        from_json(recommitted, 'array<struct<after: string, version: bigint, at: string>>') as recommitted
    from {{ committed }}
    where operation = 'L'
),

named as (
    select
        written_as,
        recommitted,
        explode(coalesce(
            record.commits,
            transform(record.compacted, name -> named_struct('load_id', name, 'version', cast(null as bigint), 'at', cast(null as string))),
            array(named_struct('load_id', record.load_id, 'version', record.version, 'at', record.started_at))
        )) as own
    from records
),

dated as (
    select
        *,
        array_max(filter(recommitted, entry -> entry.after < own.load_id)) as again
    from named
),

commits as (
    select
        written_as,
        {{ spark_cdc._load_time_sql(entity, 'own.load_id') | indent(8) }} as business_time,
        own.load_id,
        greatest(own.version, again.version, 0) as _commit_version,
        try_cast(
            concat(if(again.version > coalesce(own.version, 0), coalesce(again.at, own.at), own.at), ' UTC') as timestamp
        ) as _commit_timestamp
    from dated
),

changed as (
    {{ spark_cdc._change_rows_sql(entity, committed) | indent(4) }}
)

{{ spark_cdc._changes_of_loads_sql(entity, 'changed') }}
{%- endmacro -%}


{#- The I, U and D rows of the loads that a CTE `commits` names (written_as, business_time, load_id,
    _commit_version, _commit_timestamp), which tells loads that compact has merged into one by
    their business times. Argument: of (the commits themselves, by which partitions are left
    out; none to read all). -#}
{%- macro _change_rows_sql(entity, ledger, of=none) -%}
select /*+ broadcast(commits) */
    {% for column in entity.stored -%}
    loaded.{{ column.sql }},
    {% endfor -%}
    loaded.key_hash,
    loaded.nonkey_hash,
    loaded.operation,
    loaded.eff_start_date,
    loaded.business_date,
    commits.load_id,
    commits._commit_version,
    commits._commit_timestamp
from {{ ledger }} as loaded
inner join commits
    on loaded.load_id = commits.written_as and loaded.eff_start_date = commits.business_time
where
    loaded.operation in {{ spark_cdc._operations('changes') }}
    {%- if of %}
    {%- set ids = of | map(attribute='load_id') | list %}
    and loaded.{{ spark_cdc._in_loads(of | map(attribute='written_as') | unique | list) }}
    and loaded.business_date between {# -#}
    date'{{ spark_cdc._load_time(ids | min).strftime('%Y-%m-%d') }}' and date'{{ spark_cdc._load_time(ids | max).strftime('%Y-%m-%d') }}'
    {%- endif %}
{%- endmacro -%}
