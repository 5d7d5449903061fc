{#- The model <entity>_current: what is true now, one row per key and never a deleted one. -#}
{%- macro current() -%}
    {%- set view = spark_cdc._view_of_entity() -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {%- set entity = spark_cdc._entity(view.name) -%}
    {%- set manifest = spark_cdc._manifest_of_view(view.plain) -%}
    {{ return(spark_cdc._typed_view_query(spark_cdc._current_sql(entity, view.committed, spark_cdc._is_few(entity, manifest.log_rows)), manifest)) }}
{%- endmacro -%}


{#- The current state as SQL: the newest checkpoint overlaid by the loads since. A key that the last
    load did not touch is N after a full load and X after a delta, whether or not the load wrote it.
    Arguments: entity, committed (relation or CTE with the columns of _committed_sql()), broadcast
    (whether the keys written since the checkpoint are few).
    Returns a query. -#}
{%- macro _current_sql(entity, committed, broadcast=true) -%}
with state as (
    {{ spark_cdc._state_sql(committed, 'in_checkpoint', 'since_checkpoint', entity.stored | map(attribute='sql') | list + [
        'key_hash', 'nonkey_hash', 'eff_start_date', 'if(in_last_load, operation, default_operation) as operation_now'], broadcast) | indent(4) }}
)

select
    {{ entity.stored | map(attribute='sql') | join(',\n    ') }},
    {{ spark_cdc._hex('key_hash') }} as key_hash,
    {{ spark_cdc._hex('nonkey_hash') }} as nonkey_hash,
    operation_now as operation,
    eff_start_date
from state
{%- endmacro -%}
