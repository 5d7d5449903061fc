{#- The archived events of all loads that count, as common table expressions; the last of them is `events`: what they do to keys.
    Arguments: entity, events (relation of <entity>_events), committed (relation or CTE of <entity>_committed), layout (of the manifest). -#}
{%- macro _archived_ctes(entity, events, committed, layout) -%}
archived as (
    select
        {% for column in spark_cdc._event_columns_of_rows(entity) -%}
        {{ column.sql }},
        {% endfor -%}
        business_date,
        load_id
    from {{ spark_cdc._from(spark_cdc._archived_events(entity, events, layout)) | indent(4) }}
    where
        note is null
        and event_op <> 'control'
        and load_id in (select explode(coalesce(squashed_load_ids, array(load_id))) from {{ committed }} where operation = 'L')
),

-- a truncate is a delete of every key that was known
known as (
    select
        key_hash,
        {% for column in entity.key_columns -%}
        min({{ column.sql }}) as {{ column.sql }},
        {% endfor -%}
        min(event_position) as first_position
    from archived
    where key_hash is not null
    group by key_hash
),

events as (
    select *
    from archived
    where event_op <> 'truncate'

    union all

    select
        {% for column in spark_cdc._event_columns_of_rows(entity) -%}
        {{ spark_cdc._truncated_value(entity, column) }} as {{ column.sql }},
        {% endfor -%}
        truncates.business_date,
        truncates.load_id
    from known
    inner join archived as truncates
        on truncates.event_op = 'truncate' and truncates.event_position >= known.first_position
)
{%- endmacro -%}


{#- A column of the delete that a truncate stands for. -#}
{%- macro _truncated_value(entity, column) -%}
    {%- if column.name == 'event_op' -%}
        {{ return("'delete'") }}
    {%- elif column.name == 'event_transaction' -%}
        {{ return(spark_cdc._literal(spark_cdc._truncate_mark())) }}
    {%- elif column.name in ['event_position', 'event_time', 'event_hash'] -%}
        {{ return('truncates.' ~ column.name) }}
    {%- elif column.name == 'key_hash' or column.name in entity.key_columns | map(attribute='name') -%}
        {{ return('known.' ~ column.sql) }}
    {%- endif -%}
    {{ return('cast(null as ' ~ column.data_type ~ ')') }}
{%- endmacro -%}
