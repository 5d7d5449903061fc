{#- The versions of a row follow each other: no interval is empty, none overlaps the next, and none
    is open but the last. Only hashes and dates are read, of changes only. -#}
{%- test intervals_valid(model) -%}
with followed as (
    select
        key_hash,
        eff_start_date,
        eff_end_date,
        is_current,
        lead(eff_start_date) over (partition by key_hash order by eff_start_date, eff_end_date) as next_start_date
    from {{ model }}
)

select *
from followed
where
    eff_start_date is null
    or eff_end_date <= eff_start_date
    or not is_current <=> (eff_end_date is null)
    or (next_start_date is not null and (eff_end_date is null or eff_end_date > next_start_date))
{%- endtest -%}
