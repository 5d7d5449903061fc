{#- The versions of all rows as SQL: each I or U opens one, the key's next change (also D) closes it.
    Arguments: entity, committed (relation or CTE with the columns of _committed_sql()). Returns a query with
    eff_end_date (exclusive; null while the version is open) and is_current. -#}
{%- macro _versions_sql(entity, committed) -%}
with changes as (
    select
        {{ entity.stored | map(attribute='sql') | join(',\n        ') }},
        key_hash,
        nonkey_hash,
        operation,
        eff_start_date,
        lead(eff_start_date) over (partition by key_hash order by eff_start_date) as eff_end_date
    from {{ committed }}
    where operation in {{ spark_cdc._operations('changes') }}
)

select
    {{ entity.stored | map(attribute='sql') | join(',\n    ') }},
    {{ spark_cdc._hex('key_hash') }} as key_hash,
    {{ spark_cdc._hex('nonkey_hash') }} as nonkey_hash,
    operation,
    eff_start_date,
    eff_end_date,
    eff_end_date is null as is_current
from changes
where operation <> 'D'
{%- endmacro -%}
