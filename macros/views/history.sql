{#- The model <entity>_history: what changed on each business date (I, U and D). -#}
{%- macro history() -%}{{ return(spark_cdc._view_query(spark_cdc._history_sql)) }}{%- endmacro -%}


{#- The net changes of every load as SQL. A deleted row has its last payload.
    Arguments: entity, committed (relation or CTE with the columns of _committed_sql()).
    Returns a query. -#}
{%- macro _history_sql(entity, committed) -%}
select
    {{ entity.stored | map(attribute='sql') | join(',\n    ') }},
    {{ spark_cdc._hex('key_hash') }} as key_hash,
    {{ spark_cdc._hex('nonkey_hash') }} as nonkey_hash,
    operation,
    eff_start_date,
    business_date
from {{ committed }}
where operation in {{ spark_cdc._operations('changes') }}
{%- endmacro -%}
