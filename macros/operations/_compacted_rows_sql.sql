{#- The rows of both loads and the record of the history; few files for each partition, unless they are brought in an order anyway. -#}
{%- macro _compacted_rows_sql(capture, plan, columns, history, checkpoint, is_ordered=false) -%}
{%- set carried = columns | rejectattr('name', 'in', ['note', 'business_date', 'load_id', 'operation']) | map(attribute='sql') | list -%}
select{{ ' /*+ rebalance(business_date, load_id, operation) */' if not is_ordered }}
    {{ columns | map(attribute='sql') | join(',\n    ') }}
from (
    select
        {{ carried | join(',\n        ') }},
        note,
        business_date,
        {{ spark_cdc._literal(plan.history) }} as load_id,
        operation
    from {{ capture.ledger }}
    where
        {{ spark_cdc._in_loads(plan.squashed) }}
        and operation in {{ spark_cdc._operations('changes') }}

    union all

    select
        {{ carried | join(',\n        ') }},
        cast(null as string) as note,
        {{ spark_cdc._partition(checkpoint) | indent(8) }},
        if(operation in ('D', 'T'), 'T', 'X') as operation
    from (
        {{ spark_cdc._state_sql(
            capture.ledger, spark_cdc._in_loads([plan.base]), spark_cdc._in_loads(plan.log) if plan.log else none,
            carried + ['operation'], false, dead=capture.entity.events is not none) | indent(8) }}
    ) as state

    union all

    select
        {% for column in columns if column.sql in carried -%}
        cast(null as {{ column.data_type }}) as {{ column.sql }},
        {% endfor -%}
        {{ spark_cdc._literal(tojson(history)) }} as note,
        {{ spark_cdc._partition(history) | indent(8) }},
        'L' as operation
) as squashed
{%- endmacro -%}
