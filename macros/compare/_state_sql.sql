{#- The rows that exist in a state of the ledger: the rows of its checkpoint, overlaid by the newest row of each key
    that a later load wrote. Only the later loads are ranked, never the checkpoint.
    Arguments: ledger (relation or name of a CTE), in_base and in_log (SQL conditions for the rows of the checkpoint
    and of the loads since; in_log none where there are none), columns (list of SQL expressions over the ledger's
    columns), broadcast (whether the keys of the log are few enough to be sent to every executor), dead (whether keys that
    were deleted or never there are wanted too). Returns a query. -#}
{%- macro _state_sql(ledger, in_base, in_log, columns, broadcast=true, dead=false) -%}
{%- set of_base = spark_cdc._operations('known' if dead else 'existing') -%}
{%- if in_log is none -%}
select
    {{ columns | join(',\n    ') }}
from {{ spark_cdc._from(ledger) }}
where
    {{ in_base | indent(4) }}
    and operation in {{ of_base }}
{%- else -%}
select{{ ' /*+ broadcast(changed) */' if broadcast }}
    {{ columns | join(',\n    ') }}
from {{ ledger }} as base
left anti join (
    select key_hash
    from {{ spark_cdc._from(ledger) | indent(4) }}
    where
        {{ in_log | indent(8) }}
        and operation in {{ spark_cdc._operations('known' if dead else 'visible') }}
) as changed
    on base.key_hash = changed.key_hash
where
    {{ in_base | indent(4) }}
    and operation in {{ of_base }}

union all

{{ spark_cdc._newest_sql(ledger, in_log, columns, dead) }}
{%- endif -%}
{%- endmacro -%}
