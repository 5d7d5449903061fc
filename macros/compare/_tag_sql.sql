{#- Tagging as SQL: each row of a load compared with the state before it.

    | load type | key in the load | key before | nonkey_hash | operation |
    |-----------|-----------------|------------|-------------|-----------|
    | both      | yes             | no         |             | I         |
    | both      | yes             | yes        | differs     | U         |
    | both      | yes             | yes        | same        | N (full: written at checkpoints or if an ignored column differs) |
    | full      | no              | yes        |             | D, with the last payload |
    | delta     | flagged deleted | yes        |             | D, with the last payload |
    | delta     | flagged deleted | no         |             | T (tombstone, seen by nobody) |
    | delta     | no              | yes        |             | X (written at checkpoints) |

    A row with a note is rejected (R); where such rows are set aside (entity.quarantine), their keys stay as they were: X in a
    delta, and in a full load by what _hold_sql() adds. Nothing is read from the catalogue.
    Arguments: run (entity, load, prior: relation or CTE with the ledger's columns, broadcast: whether the keys of the loads since the
    checkpoint are few), incoming (relation or CTE with the columns of _stage_sql()). Returns a query whose columns are the ledger's, in its
    order. -#}
{%- macro _tag_sql(run, incoming) -%}
{%- if run.load.base is none -%}
-- the first load: there is no state before it
select
    {{ spark_cdc._payload(run.entity) | join(',\n    ') }},
    {{ spark_cdc._load_start(run) }} as eff_start_date,
    note,
    {{ spark_cdc._partition(run.load) | indent(4) }},
    case when note is not null then 'R' {{ "when is_deleted then 'T' else 'I'" if run.entity.deleted_when else "else 'I'" }} end as operation
from {{ incoming }}
{%- elif run.load.load_type == 'full' -%}
{{ spark_cdc._tag_full_sql(run, incoming) }}
{%- else -%}
{{ spark_cdc._tag_delta_sql(run, incoming) }}
{%- endif -%}
{%- endmacro -%}
