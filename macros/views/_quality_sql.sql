{#- What rules found, as SQL: a row per load that counts and rule. Arguments: name (of the entity), load_log (cdc_loads), committed (relation with the columns
    of _committed_sql()). Returns a query: rule, action, rows_judged, rows_broken, pass_rate (from 0 to 1; null where no row was judged), business_time,
    committed_at, load_id. -#}
{%- macro _quality_sql(name, load_log, committed) -%}
with found as (
    select
        inline(rules),
        business_time,
        committed_at,
        load_id
    from {{ load_log }}
    where
        entity = {{ spark_cdc._literal(name) }}
        and status = 'committed'
        and load_id in (select explode(coalesce(squashed_load_ids, array(load_id))) from {{ committed }} where operation = 'L')
)

select
    rule,
    action,
    judged as rows_judged,
    broken as rows_broken,
    1 - broken / nullif(judged, 0) as pass_rate,
    business_time,
    committed_at,
    load_id
from found
{%- endmacro -%}
