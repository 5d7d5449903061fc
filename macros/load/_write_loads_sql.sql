{#- The write of loads: their rows, and the record of each load itself, which proves that the write was whole.
    Arguments: ledger (relation), columns (of the ledger, in its order), loads (their plans, which become the records; empty where a later statement
    writes the record), sql (query of the rows of all), order (of _cluster_order(): how the rows lie in files; none: as they come). -#}
{%- macro _write_loads_sql(ledger, columns, loads, sql, order=none) -%}
{%- set partitions = ['business_date', 'load_id', 'operation'] | join(', ') -%}
insert overwrite table {{ spark_cdc._own(ledger) }} partition ({{ partitions }})
{% if order is none -%}
{{ spark_cdc._rows_and_records_sql(columns, loads, sql) }}
{%- else -%}
select
    {{ columns | map(attribute='at_sql') | join(',\n    ') }}
from (
    select /*+ repartition_by_range({{ partitions }}, cluster__order) */ *
    from (
        select
            *,
            {{ order }} as cluster__order
        from (
{{ spark_cdc._rows_and_records_sql(columns, loads, sql) }}
        ) as unordered
    ) as ordered
) as ranged
sort by {{ partitions }}, cluster__order
{%- endif -%}
{%- endmacro -%}
