{#- Keys that a full load with rejected rows leaves as they were, as SQL: they did come in, but with a row that can't be
    accepted, so they are neither unchanged nor deleted. The load has been written; this adds their prior rows to it as X.
    Where a rejected row has a key that can't be read, it may be that of any key that seems to be missing: then all rows
    that the load tagged D are held, too (and their partition D has to go).
    Arguments: run (entity, load, prior: relation of the ledger), unreadable (whether some rejected row has no key). Returns
    a query whose columns are the ledger's, in its order. -#}
{%- macro _hold_sql(run, unreadable) -%}
{%- set of_load = "load_id = '" ~ run.load.load_id ~ "' and operation in " -%}
with set_aside as (
    select key_hash
    from {{ run.prior }}
    where {{ of_load }}{{ "('R', 'D')" if unreadable else "('R')" }}
)

select
    {{ spark_cdc._kept_row(run, 'prior', 'X') | indent(4) }}
from (
    {{ spark_cdc._prior_of_sql(run, 'set_aside', spark_cdc._payload(run.entity) + ['eff_start_date']) | indent(4) }}
) as prior
left anti join (
    select key_hash
    from {{ run.prior }}
    where {{ of_load }}('I', 'U', 'N')
) as accepted
    on prior.key_hash = accepted.key_hash
{%- endmacro -%}
