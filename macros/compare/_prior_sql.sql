{#- The whole state before a load. Arguments: run (with prior and broadcast), more (columns beside payload and eff_start_date), dead (whether
    keys that were deleted or never there are wanted too). -#}
{%- macro _prior_sql(run, more=[], dead=false) -%}
{%- set load = run.load -%}
{{ spark_cdc._state_sql(
    run.prior, spark_cdc._in_loads([load.base]), spark_cdc._in_loads(load.log) if load.log else none,
    spark_cdc._payload(run.entity) + ['eff_start_date'] + spark_cdc._columns_before(run, more), run.broadcast, dead
) }}
{%- endmacro -%}


{#- The prior rows of the keys that came in. They are few, so only these are ranked, and the ledger's rows meet the
    incoming keys first: no row of a big ledger is shuffled. Arguments: run, incoming, columns, condition (which of the incoming rows). -#}
{%- macro _prior_of_sql(run, incoming, columns, condition=none) -%}
{%- set of_keys -%}
{{ spark_cdc._in_loads([run.load.base] + run.load.log) }}
and key_hash in (select key_hash from {{ incoming }}{{ ' where ' ~ condition if condition }})
{%- endset -%}
{{ spark_cdc._newest_sql(run.prior, of_keys, columns) }}
{%- endmacro -%}
