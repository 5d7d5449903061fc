{#- The views of the example `orders` show what the seed orders_story tells: history for each day that is committed,
    current for the last one. Days that are not loaded yet are not compared, nor is anything after a day that the
    story does not have or that was left out. -#}
{{- config(enabled=target.profile_name == 'spark_cdc') -}}
{%- set committed = ref('orders_committed') -%}
{%- set loads = spark_cdc.read_manifest(committed).loads if execute else [] -%}
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
    from (select distinct business_date from {{ ref('orders_story') }}) as days
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
        story.order_no,
        story.line_no,
        story.operation,
        operations.in_current,
        operations.in_history
    from {{ ref('orders_story') }} as story
    inner join {{ ref('operations') }} as operations
        on story.operation = operations.code
    inner join compared_days
        on story.business_date = compared_days.business_date
),

expected as (
    select 'history' as view_name, business_date, order_no, line_no, operation
    from told
    where in_history

    union all

    select 'current' as view_name, told.business_date, told.order_no, told.line_no, told.operation
    from told
    inner join last_day
        on told.business_date = last_day.business_date
    where told.in_current
),

found as (
    select 'history' as view_name, history.business_date, history.order_no, history.line_no, history.operation
    from {{ ref('orders_history') }} as history
    inner join compared_days
        on history.business_date = compared_days.business_date

    union all

    select
        'current' as view_name,
        compared_days.business_date,
        current_rows.order_no,
        current_rows.line_no,
        current_rows.operation
    from {{ ref('orders_current') }} as current_rows
    cross join last_day
    inner join compared_days
        on last_day.business_date = compared_days.business_date
)

select
    coalesce(expected.view_name, found.view_name) as view_name,
    coalesce(expected.business_date, found.business_date) as business_date,
    coalesce(expected.order_no, found.order_no) as order_no,
    coalesce(expected.line_no, found.line_no) as line_no,
    expected.operation as expected_operation,
    found.operation as found_operation
from expected
full outer join found
    on
        expected.view_name = found.view_name
        and expected.business_date = found.business_date
        and expected.order_no = found.order_no
        and expected.line_no = found.line_no
where not expected.operation <=> found.operation
