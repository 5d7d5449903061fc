{#- The rows that are gone, as they were (D), of a full load that has written what came in: the keys of all these rows stand in the ledger, those of
    unchanged ones as marks. As long as the keys are few, the payload before meets them where it is read; else the hashes meet first, and the payload
    those that are left, so that it is not shuffled unless these are many, too.
    Arguments: run (entity, load, prior: relation of the ledger, broadcast), supplied_rows (that came in), deleted_rows (that seem to be gone). Returns a
    query whose columns are the ledger's, in its order. -#}
{%- macro _deleted_sql(run, supplied_rows, deleted_rows) -%}
{%- set start = spark_cdc._load_start(run) -%}
{%- set supplied_few, deleted_few = spark_cdc._is_few(run.entity, supplied_rows), spark_cdc._is_few(run.entity, deleted_rows) -%}
with prior as (
    {{ spark_cdc._prior_sql(run) | indent(4) }}
),

supplied as (
    select key_hash
    from {{ spark_cdc._from(run.prior) | indent(4) }}
    where
        {{ spark_cdc._in_loads([run.load.load_id]) }}
        and operation in {{ spark_cdc._operations('met') }}
)
{%- if not supplied_few %},

deleted as (
    select prior.key_hash
    from prior
    left anti join supplied
        on prior.key_hash = supplied.key_hash
)
{%- endif %}

select{{ ' /*+ broadcast(supplied) */' if supplied_few else ' /*+ broadcast(deleted) */' if deleted_few }}
    {{ spark_cdc._kept_row(run, 'prior', 'D', start) | indent(4) }}
from prior
{%- if supplied_few %}
left anti join supplied
    on prior.key_hash = supplied.key_hash
{%- else %}
left semi join deleted
    on prior.key_hash = deleted.key_hash
{%- endif %}
{%- endmacro -%}
