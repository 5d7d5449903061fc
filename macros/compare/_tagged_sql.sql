{#- The columns of the ledger, of rows that were compared. -#}
{%- macro _tagged_sql(run, compared) -%}
select
    {{ spark_cdc._payload(run.entity) | join(',\n    ') }},
    if(operation = 'N', eff_start_date, {{ spark_cdc._load_start(run) }}) as eff_start_date,
    note,
    {{ spark_cdc._partition(run.load) | indent(4) }},
    operation
from {{ compared }}
{%- endmacro -%}
