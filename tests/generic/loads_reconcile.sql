{#- The counts of every committed load agree: what cdc_loads says with what the ledger holds (told
    from file footers alone), each load with the one it builds on, and within a load (an entity that
    was never loaded has nothing to agree)
    full:  rows in = I + U + N + rejected,          rows before = U + N + D
    delta: rows in >= I + U + N + D + rejected,     rows before = U + N + D + X  -#}
{%- test loads_reconcile(model) -%}
{%- set referred = ref('spark_cdc', 'cdc_loads') -%}
{%- if execute -%}  {#- at parse time the model has no name yet -#}
{%- set model = spark_cdc._unsampled(model) -%}
{%- set name = spark_cdc._strip_entity_affix(model.identifier) -%}
{%- set load_log = spark_cdc._load_log_beside(model, name, referred) -%}
{%- if spark_cdc._is_listed(model) or spark_cdc._is_listed(spark_cdc._relation_in(model.schema, name ~ '_ledger')) -%}
with committed as (
    select
        load_id,
        count_if(operation = 'I') as rows_inserted,
        count_if(operation = 'U') as rows_updated,
        count_if(operation = 'D') as rows_deleted
    from {{ model }}
    group by load_id
),

loads as (
    select *
    from {{ load_log }}
    where
        entity = '{{ name }}'
        and load_id in (
            {%- for load_id in spark_cdc._read_manifest(model).loads %}
            '{{ load_id }}'{{ ',' if not loop.last }}
            {%- else %}
            null
            {%- endfor %}
        )
),

checked as (
    select
        coalesce(loads.load_id, committed.load_id) as load_id,
        case
            when loads.load_id is null
                then 'cdc_loads lacks the load'
            when
                coalesce(committed.rows_inserted, 0) <> loads.rows_inserted
                or coalesce(committed.rows_updated, 0) <> loads.rows_updated
                or coalesce(committed.rows_deleted, 0) <> loads.rows_deleted
                then 'the ledger holds other counts than cdc_loads'
            when
                loads.load_type <> 'compact'
                and loads.rows_prior
                <> loads.rows_updated + loads.rows_unchanged + loads.rows_deleted + loads.rows_not_supplied
                then 'rows before the load are not U + N + D + X'
            when loads.rows_current <> loads.rows_prior + loads.rows_inserted - loads.rows_deleted
                then 'rows after the load are not rows before + I - D'
            when
                loads.load_type = 'full' and loads.load_id rlike '-fc?-'
                and loads.rows_in
                <> loads.rows_inserted + loads.rows_updated + loads.rows_unchanged + loads.rows_rejected
                then 'rows in are not I + U + N + rejected'
            when
                loads.load_type = 'delta'
                and loads.rows_in
                < loads.rows_inserted + loads.rows_updated + loads.rows_unchanged + loads.rows_deleted
                + loads.rows_rejected
                then 'rows in are fewer than I + U + N + D + rejected'
            when
                loads.rows_prior <> coalesce(parents.rows_current, 0)
                then 'rows before the load are not the rows after the one it builds on'
        end as problem
    from loads
    full outer join committed
        on loads.load_id = committed.load_id
    left join {{ load_log }} as parents
        on loads.entity = parents.entity and loads.parent_load_id = parents.load_id
)

select * from checked
where problem is not null
{%- else -%}
{{ spark_cdc._verified_nothing() }}
{%- endif -%}
{%- endif -%}
{%- endtest -%}
