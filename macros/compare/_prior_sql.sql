{#- The whole state before a load. -#}
{%- macro _prior_sql(entity, load, ledger, broadcast, more=[]) -%}
    {{ return(spark_cdc._state_sql(
        ledger, spark_cdc._in_loads([load.base]), spark_cdc._in_loads(load.log) if load.log else none,
        spark_cdc._payload(entity) + ['eff_start_date'] + more, broadcast
    )) }}
{%- endmacro -%}


{#- The prior rows of the keys that came in. They are few, so only these are ranked, and the ledger's rows meet the
    incoming keys first: no row of a big ledger is shuffled. -#}
{%- macro _prior_of_sql(load, incoming, ledger, columns, condition=none) -%}
{{ spark_cdc._newest_sql(
    ledger,
    spark_cdc._in_loads([load.base] + load.log) ~ '\nand key_hash in (select key_hash from ' ~ incoming
    ~ (' where ' ~ condition if condition else '') ~ ')',
    columns
) }}
{%- endmacro -%}
