{#- The model <entity>_current: what is true now, one row per key and never a deleted one. -#}
{%- macro current() -%}{{ return(spark_cdc._view_query(spark_cdc._current_sql, is_hinted=true)) }}{%- endmacro -%}


{#- The current state as SQL: the newest checkpoint overlaid by the loads since. A key that the last
    load did not touch is N after a full load and X after a delta, whether or not the load wrote it.
    Arguments: entity, committed (relation or CTE with the columns of _committed_sql()), broadcast
    (whether the keys written since the checkpoint are few).
    Returns a query. -#}
{%- macro _current_sql(entity, committed, broadcast=true) -%}
with state as (
    {{ spark_cdc._state_sql(committed, 'in_checkpoint', 'since_checkpoint', entity.stored | map(attribute='sql') | list + [
        'key_hash', 'nonkey_hash', 'eff_start_date', 'if(in_last_load, operation, default_operation) as cdc__operation'], broadcast) | indent(4) }}
)

select
    {{ entity.stored | map(attribute='sql') | join(',\n    ') }},
    {{ spark_cdc._hex('key_hash') }} as key_hash,
    {{ spark_cdc._hex('nonkey_hash') }} as nonkey_hash,
    cdc__operation as operation,
    eff_start_date
from state
{%- endmacro -%}
