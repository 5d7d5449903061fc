{#- The last rows before a load of some keys, also of keys that were deleted (D) or never there (T).
    Arguments: run, of_keys (query of their hashes), key_count (at most so many: if they are too many to be broadcast, the rows of all keys are
    meant), columns. -#}
{%- macro _rows_before_sql(run, of_keys, key_count, columns) -%}
{{ spark_cdc._last_rows_before_sql(run, of_keys if spark_cdc._is_few(run.entity, key_count) else none, columns, broadcast=true) }}
{%- endmacro -%}


{#- Arguments: of_keys (none for all keys), keep (operations of the checkpoint that are wanted), broadcast (whether the keys are few enough
    to be sent to every executor: Spark cannot tell, and would sort and shuffle the whole state to meet them). -#}
{%- macro _last_rows_before_sql(run, of_keys, columns, keep=none, broadcast=false) -%}
{%- set named -%}
    {%- if of_keys %}
and key_hash in (
    select{{ ' /*+ broadcast(wanted) */' if broadcast }} key_hash
    from (
        {{ of_keys | indent(8) }}
    ) as wanted
)
    {%- endif -%}
{%- endset -%}
{{ spark_cdc._state_sql(
    run.prior, spark_cdc._in_loads([run.load.base]) ~ named ~ ('\nand operation in ' ~ keep if keep else ''),
    spark_cdc._in_loads(run.load.log) ~ named if run.load.log else none, columns, false, dead=true
) }}
{%- endmacro -%}
