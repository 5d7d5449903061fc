{#- Writes what everybody may read of loads: the partitions that they have in the ledger, with sensitive columns masked (docs/sensitive.md). To be
    called wherever the partitions of loads are complete, before they are audited. It gives the same if it is sent twice. Nothing for an entity without
    sensitive columns. Arguments: capture, loads (names), layout, begun (as of _settled_table()). -#}
{%- macro _write_masked_ledger(capture, loads, layout, begun=none) -%}
    {%- if not capture.entity.sensitive -%}{{ return('') }}{%- endif -%}
    {%- set columns = spark_cdc._settled_table(capture.entity, capture.masked, spark_cdc._ledger_columns(capture.entity, layout),
        ['business_date', 'load_id', 'operation'], ['key_hash', 'nonkey_hash'], begun=begun) -%}
    {%- do spark_cdc._set_overwrite(capture.masked) -%}
    {%- do spark_cdc._send(spark_cdc._masked_ledger_sql(capture, columns, loads)) -%}
{%- endmacro -%}


{#- That statement. Argument: columns (of the masked ledger, in its order). -#}
{%- macro _masked_ledger_sql(capture, columns, loads) -%}
insert overwrite table {{ capture.masked }} partition (business_date, load_id, operation)
select
    {{ spark_cdc._masked_columns(capture.entity, columns, "operation = 'R'") | join(',\n') | indent(4) }}
from {{ capture.ledger }}
where {{ spark_cdc._in_loads(loads) }}
{%- endmacro -%}


{#- In how many partitions of some loads the two ledgers do not have the same rows, told by their hashes: a row as of _input_sql(), or none for an entity
    without sensitive columns. -#}
{%- macro _masked_ledger_differences_sql(capture, loads) -%}
    {%- if not capture.entity.sensitive or spark_cdc._is_plan() -%}{{ return(none) }}{%- endif -%}
    {%- set sql -%}
select
    cast(null as string) as load_id,
    'masked' as operation,
    0 as row_count,
    cast(count(*) as string) as note
from (
    select
        load_id,
        operation
    from (
        {%- for table, side in [(capture.ledger, 1), (capture.masked, -1)] %}
        select
            load_id,
            operation,
            {{ side }} as side,
            xxhash64(key_hash, nonkey_hash, eff_start_date, if(operation = 'R', null, note)) as row_hash
        from {{ table }}
        where {{ spark_cdc._in_loads(loads) }}
        {{- '\n\n        union all\n' if loop.first }}
        {%- endfor %}
    ) as both_ledgers
    group by load_id, operation
    having sum(side) <> 0 or bit_xor(row_hash) <> 0
) as differing
    {%- endset -%}
    {{ return(sql) }}
{%- endmacro -%}


{#- What is said where they do not. Argument: found (note of that row, or none). Returns a text, or none. -#}
{%- macro _masked_ledger_problem(capture, found) -%}
    {%- if not found | int -%}{{ return(none) }}{%- endif -%}
    {%- set message -%}
{{ capture.entity.name }}: {{ capture.masked }} does not have the rows of {{ capture.ledger }}, without their sensitive values, in {# -#}
{{ spark_cdc._counted(found | int, 'partition') }} of what was written. Nothing was committed and readers see what they saw before. Run the same command again; if it {# -#}
comes again, report it.
    {%- endset -%}
    {{ return(message) }}
{%- endmacro -%}
