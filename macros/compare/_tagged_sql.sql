{#- The columns of the ledger, of rows that were compared. Arguments: run, compared, with_unchanged (whether N is among them). -#}
{%- macro _tagged_sql(run, compared, with_unchanged=true) -%}
{%- set start = spark_cdc._load_start(run) -%}
select
    {{ spark_cdc._payload(run.entity) | join(',\n    ') }},
    {{ "if(operation = 'N', eff_start_date, " ~ start ~ ')' if with_unchanged else start }} as eff_start_date,
    note,
    {{ spark_cdc._partition(run.load) | indent(4) }},
    operation
from {{ compared }}
{%- endmacro -%}
