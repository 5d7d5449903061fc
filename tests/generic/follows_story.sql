{#- The views of an entity show what a seed tells: history for each day that is committed, current for the last one.
    Days that are not loaded yet are not compared, nor is anything after a day that the story does not have or that
    was left out. On <entity>_current. Arguments: story (seed with business_date, the key columns and operation),
    committed and history (relations of the entity). -#}
{%- test follows_story(model, story, committed, history) -%}
{%- if execute -%}  {#- at parse time the model has no name yet -#}
{%- set entity = spark_cdc.entity(spark_cdc._strip_entity_affix(model.identifier)) -%}
{%- set names = entity.key_columns | map(attribute='sql') | list -%}
with committed_days as (
    select
        business_date,
        row_number() over (order by business_date) as day_number
    from (
        {%- for load_id in spark_cdc.read_manifest(committed).loads %}
        select date'{{ spark_cdc._load_time(load_id).strftime('%Y-%m-%d') }}' as business_date
        {{- '\n        union all' if not loop.last }}
        {%- else %}
        select cast(null as date) as business_date where false
        {%- endfor %}
    ) as days
),

told_days as (
    select
        business_date,
        row_number() over (order by business_date) as day_number
    from (select distinct business_date from {{ story }}) as days
),

compared_days as (
    select committed_days.business_date
    from committed_days
    inner join told_days
        on
            committed_days.business_date = told_days.business_date
            and committed_days.day_number = told_days.day_number
),

last_day as (
    select max(business_date) as business_date
    from committed_days
),

told as (
    select
        business_date,
        {% for name in names -%}
        {{ name }},
        {% endfor -%}
        operation
    from {{ story }}
    where business_date in (select business_date from compared_days)
),

expected as (
    select
        'history' as view_name,
        told.*
    from told
    where operation in {{ spark_cdc.operations('changes') }}

    union all

    select
        'current' as view_name,
        told.*
    from told
    where
        operation in {{ spark_cdc.operations('existing') }}
        and business_date = (select business_date from last_day)
),

found as (
    select
        'history' as view_name,
        business_date,
        {% for name in names -%}
        {{ name }},
        {% endfor -%}
        operation
    from {{ history }}
    where business_date in (select business_date from compared_days)

    union all

    select
        'current' as view_name,
        compared_days.business_date,
        {% for name in names -%}
        current_rows.{{ name }},
        {% endfor -%}
        current_rows.operation
    from {{ model }} as current_rows
    cross join last_day
    inner join compared_days
        on last_day.business_date = compared_days.business_date
)

select
    coalesce(expected.view_name, found.view_name) as view_name,
    coalesce(expected.business_date, found.business_date) as business_date,
    {% for name in names -%}
    coalesce(expected.{{ name }}, found.{{ name }}) as {{ name }},
    {% endfor -%}
    expected.operation as expected_operation,
    found.operation as found_operation
from expected
full outer join found
    on
        expected.view_name = found.view_name
        and expected.business_date = found.business_date
        {%- for name in names %}
        and expected.{{ name }} = found.{{ name }}
        {%- endfor %}
where not expected.operation <=> found.operation
{%- endif -%}
{%- endtest -%}
