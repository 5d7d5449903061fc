{#- The newest row of each key among the ledger's rows that fulfil a condition, without the keys deleted last unless these
    are wanted. All of these rows are ranked, so the condition has to leave few. -#}
{%- macro _newest_sql(ledger, condition, columns, dead=false) -%}
select
    {{ columns | join(',\n    ') }}
from (
    select
        *,
        row_number() over (partition by key_hash order by load_id desc) as recency
    from {{ spark_cdc._from(ledger) | indent(4) }}
    where
        {{ condition | indent(8) }}
        and operation in {{ spark_cdc._operations('known' if dead else 'visible') }}
) as newest
where recency = 1{{ " and operation <> 'D'" if not dead }}
{%- endmacro -%}
