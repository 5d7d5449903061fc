{#- How many keys come more than once among the rows that a load has written, up to 1000: a row as of _input_sql(), looked at on the narrow hash column. A
    rejected row counts, too, beside one that was accepted; of change events it is one event of several. Argument: run (of _planned_run()). -#}
{%- macro _repeats_sql(run) -%}
select
    cast(null as string) as load_id,
    'repeated' as operation,
    0 as row_count,
    cast(count(*) as string) as note
from (
    select key_hash
    from {{ run.ledger }}
    where {{ spark_cdc._repeats_condition(run) }} and key_hash is not null
    group by key_hash
    having count(*) > 1 and max(operation <> 'R')
    limit 1000
)
{%- endmacro -%}


{%- macro _repeats_condition(run) -%}
load_id = '{{ run.load.load_id }}' and operation in {{ spark_cdc._operations('supplied' if run.entity.events else 'received') }}
{%- endmacro -%}
