{#- The versions of a row follow each other: no interval is empty, none overlaps the next, and none
    is open but the last. Only hashes and dates are read, of changes only. -#}
{%- test intervals_valid(model) -%}
{%- set validity = spark_cdc._validity_of(model) -%}
{%- set start, end, is_inclusive = validity.start, validity.end, validity.end_is == 'inclusive' -%}
{%- set is_open = end ~ (' is null' if validity.open_end is none else " = timestamp_ntz'" ~ validity.open_end ~ "'") -%}
with followed as (
    select
        key_hash,
        {{ start }},
        {{ end }},
        {{ validity.current }},
        lead({{ start }}) over (partition by key_hash order by {{ start }}, {{ end }}) as next_start_date
    from {{ model }}
)

select *
from followed
where
    {{ start }} is null
    or {{ end }} {{ '<' if is_inclusive else '<=' }} {{ start }}
    or not {{ validity.current }} <=> ({{ is_open }})
    or (next_start_date is not null and ({{ end }} is null or {{ end }} {{ '>=' if is_inclusive else '>' }} next_start_date))
{%- endtest -%}
