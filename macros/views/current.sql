{#- The model <entity>_current: what is true now, one row per key and never a deleted one. -#}
{%- macro current() -%}{{ return(spark_cdc._view_query(spark_cdc._current_sql, is_hinted=true)) }}{%- endmacro -%}


{#- The model <entity>_latest: one row per key that ever was, with its last values, and whether and
    since when it is deleted. -#}
{%- macro latest() -%}{{ return(spark_cdc._view_query(spark_cdc._latest_sql)) }}{%- endmacro -%}


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


{#- The last change of each key as SQL; a deleted row has its last payload.
    Arguments: entity, committed (relation or CTE with the columns of _committed_sql()).
    Returns a query with is_deleted and deleted_at (null while the row is there). -#}
{%- macro _latest_sql(entity, committed) -%}
{%- set own = entity.stored | map(attribute='name') | map('lower') | select('in', ['is_deleted', 'deleted_at']) | list -%}
{%- if own -%}
    {%- do exceptions.raise_compiler_error(
        entity.name ~ ': ' ~ entity.name ~ '_latest adds the columns is_deleted and deleted_at, but the entity has a column ' ~ own[0]
        ~ '. Nothing was written. Declare the column under another name, such as source_' ~ own[0] ~ ' with from: ' ~ own[0]
        ~ ', or remove the model ' ~ entity.name ~ '_latest.') -%}
{%- endif -%}
with {{ spark_cdc._changes_cte(entity, committed) }}

select
    {{ entity.stored | map(attribute='sql') | join(',\n    ') }},
    {{ spark_cdc._hex('key_hash') }} as key_hash,
    {{ spark_cdc._hex('nonkey_hash') }} as nonkey_hash,
    eff_start_date,
    operation = 'D' as is_deleted,
    if(operation = 'D', eff_start_date, null) as deleted_at
from changes
where eff_end_date is null
{%- endmacro -%}
