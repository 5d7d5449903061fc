{#- The views of an entity show what a seed tells, a row per business date and key: history for each
    day that is committed, current for the last one. Days that are not loaded yet are not compared,
    nor is anything after a day that the story does not have or that was left out. The seed has the
    columns business_date, the key columns, operation. Arguments: committed, current, history
    (relations), key_columns (list of names). -#}
{%- test follows_story(model, committed, current, history, key_columns) -%}
{#- with --empty, too, the manifest is read and the rows are those of the loads it names -#}
{%- set committed, current, history = spark_cdc._unsampled(committed), spark_cdc._unsampled(current), spark_cdc._unsampled(history) -%}
{%- set loads = spark_cdc._read_manifest(committed).loads if execute else [] -%}
with committed_days as (
    select
        business_date,
        row_number() over (order by business_date) as day_number
    from (
        {%- for load_id in loads %}
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
    from (select distinct business_date from {{ model }}) as days
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
        story.business_date,
        {% for name in key_columns -%}
        story.{{ name }},
        {% endfor -%}
        story.operation
    from {{ model }} as story
    inner join compared_days
        on story.business_date = compared_days.business_date
),

expected as (
    select
        'history' as view_name,
        *
    from told
    where operation in {{ spark_cdc._operations('changes') }}

    union all

    select
        'current' as view_name,
        told.*
    from told
    inner join last_day
        on told.business_date = last_day.business_date
    where told.operation in {{ spark_cdc._operations('existing') }}
),

found as (
    select
        'history' as view_name,
        changes.business_date,
        {% for name in key_columns -%}
        changes.{{ name }},
        {% endfor -%}
        changes.operation
    from {{ history }} as changes
    inner join compared_days
        on changes.business_date = compared_days.business_date

    union all

    select
        'current' as view_name,
        compared_days.business_date,
        {% for name in key_columns -%}
        state.{{ name }},
        {% endfor -%}
        state.operation
    from {{ current }} as state
    cross join last_day
    inner join compared_days
        on last_day.business_date = compared_days.business_date
)

select
    coalesce(expected.view_name, found.view_name) as view_name,
    coalesce(expected.business_date, found.business_date) as business_date,
    {% for name in key_columns -%}
    coalesce(expected.{{ name }}, found.{{ name }}) as {{ name }},
    {% endfor -%}
    expected.operation as expected_operation,
    found.operation as found_operation
from expected
full outer join found
    on
        expected.view_name = found.view_name
        and expected.business_date = found.business_date
        {%- for name in key_columns %}
        and expected.{{ name }} = found.{{ name }}
        {%- endfor %}
where not expected.operation <=> found.operation
{%- endtest -%}
