{#- The last rows before a load of some keys, also of keys that were deleted (D) or never there (T). As long as the keys are few enough to be
    broadcast, the ledger's rows meet them first, in one scan, and only what is left is ranked; else the rows of all keys are meant.
    Arguments: run, of_keys (query of their hashes), key_count (how many they are at most), columns. -#}
{%- macro _rows_before_sql(run, of_keys, key_count, columns) -%}
{%- set columns = spark_cdc._columns_before(run, columns) -%}
{%- if not spark_cdc._is_few(run.entity, key_count) -%}
{{ spark_cdc._state_sql(
    run.prior, spark_cdc._in_loads([run.load.base]), spark_cdc._in_loads(run.load.log) if run.load.log else none, columns, false, dead=true
) }}
{%- else -%}
{%- set condition -%}
{{ spark_cdc._in_loads([run.load.base] + run.load.log) }}
and key_hash in (
    select /*+ broadcast(wanted) */ key_hash
    from (
        {{ of_keys | indent(8) }}
    ) as wanted
)
{%- endset -%}
{%- if run.load.log -%}
{{ spark_cdc._newest_sql(run.prior, condition, columns, dead=true) }}
{%- else -%}  {#- a checkpoint has one row of each key -#}
{{ spark_cdc._state_sql(run.prior, condition, none, columns, dead=true) }}
{%- endif -%}
{%- endif -%}
{%- endmacro -%}
