{#- Keys that a full load with rejected rows leaves as they were, as SQL: they did come in, but with a row that can't be
    accepted, so they are neither unchanged nor deleted. The load has been written; this adds their prior rows to it as X.
    Where a rejected row has a key that can't be read, it may be that of any key that seems to be missing: then all rows
    that the load tagged D are held, too (and their partition D has to go).
    Arguments: entity, load (of plan_load()), ledger (relation), unreadable (whether some rejected row has no key). Returns
    a query whose columns are the ledger's, in its order. -#}
{%- macro hold_sql(entity, load, ledger, unreadable) -%}
{%- set of_load = "load_id = '" ~ load.load_id ~ "' and operation in " -%}
with set_aside as (
    select key_hash
    from {{ ledger }}
    where {{ of_load ~ ("('R', 'D')" if unreadable else "('R')") }}
)

select
    {{ spark_cdc._kept_row(entity, load, 'prior', 'X') | indent(4) }}
from (
    {{ spark_cdc._prior_of_sql(load, 'set_aside', ledger, spark_cdc._payload(entity) + ['eff_start_date']) | indent(4) }}
) as prior
left anti join (
    select key_hash
    from {{ ledger }}
    where {{ of_load ~ "('I', 'U', 'N')" }}
) as accepted
    on prior.key_hash = accepted.key_hash
{%- endmacro -%}


{#- Writes what hold_sql() finds, where the load at hand needs it. Each statement gives the same if it is sent twice. -#}
{%- macro _hold_rejected(entity, ledger, load, columns) -%}
    {%- if not entity.quarantine or load.load_type != 'full' or load.base is none -%}
        {{ return('') }}
    {%- endif -%}
    {%- set found = spark_cdc._query(
        'select count(*) as rejected, count_if(key_hash is null) as unreadable from ' ~ ledger
        ~ " where load_id = '" ~ load.load_id ~ "' and operation = 'R'"
    )[0] -%}
    {%- if found.rejected | int and load.redefines -%}
        {%- do spark_cdc.refuse_load(
            entity, 'failed_casts',
            entity.name ~ ': ' ~ found.rejected ~ ' rows of ' ~ load.business_time ~ ' are rejected, and the load is the first with the changed columns '
            ~ 'of stg_' ~ entity.name ~ ': such a load takes none, also with on_reject: quarantine. Nothing was committed and readers see what they saw '
            ~ 'before. Correct the data, or load a date without rejected rows under the changed columns first.', load
        ) -%}
    {%- endif -%}
    {%- if found.rejected | int -%}
        {%- do run_query(
            spark_cdc._write_rows_sql(ledger, columns,
                spark_cdc.hold_sql(entity, load, spark_cdc._laid_out(entity, ledger, load.layout), found.unreadable | int > 0))
        ) -%}
    {%- endif -%}
    {%- if found.unreadable | int -%}
        {%- do run_query(spark_cdc._drop_partitions_sql(ledger, [
            'business_date=' ~ load.business_time[:10] ~ '/load_id=' ~ load.load_id ~ '/operation=D'])) -%}
    {%- endif -%}
{%- endmacro -%}
