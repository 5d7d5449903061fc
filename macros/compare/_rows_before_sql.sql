{#- The last rows before a load of the keys that its events name; where the events are too many for their keys to be broadcast,
    those of all keys. Arguments: entity, load, ledger, of_keys (query of key hashes), event_count, columns. -#}
{%- macro _rows_before_sql(entity, load, ledger, of_keys, event_count, columns) -%}
{{ spark_cdc._last_rows_sql(load, ledger, of_keys if spark_cdc._is_few(entity, event_count) else none, columns, broadcast=true) }}
{%- endmacro -%}


{#- The last row of some keys before a load, also of keys that were deleted (D) or never there (T).
    Arguments: load, ledger, of_keys (query of key hashes; none for all keys), columns, keep (operations of the checkpoint that
    are wanted), broadcast (whether the keys are few enough to be sent to every executor: Spark cannot tell, and would sort and
    shuffle the whole state to meet them). -#}
{%- macro _last_rows_sql(load, ledger, of_keys, columns, keep=none, broadcast=false) -%}
{%- set named = '\nand key_hash in (\n    select' ~ (' /*+ broadcast(wanted) */' if broadcast else '') ~ ' key_hash\n    from (\n        '
    ~ of_keys | indent(8) ~ '\n    ) as wanted\n)' if of_keys else '' -%}
{{ spark_cdc._state_sql(
    ledger, spark_cdc._in_loads([load.base]) ~ named ~ ('\nand operation in ' ~ keep if keep else ''),
    spark_cdc._in_loads(load.log) ~ named if load.log else none, columns, false, dead=true
) }}
{%- endmacro -%}
