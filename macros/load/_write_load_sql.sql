{#- The write of a load: its rows, and the record of the load itself, which proves that the write was whole.
    Arguments: ledger (relation), columns (of the ledger, in its order), load (its plan, which becomes the record), sql (query of the rows),
    order (of _cluster_order(): how the rows lie in files; none: as they come). -#}
{%- macro _write_load_sql(ledger, columns, load, sql, order=none) -%}
{%- set partitions = ['business_date', 'load_id', 'operation'] -%}
{%- set rows -%}
{{ spark_cdc._written_rows_sql(columns, 'rows__of__load', 'rows_of_load') }}

union all

select
    {% for column in columns if column.name not in ['business_date', 'load_id', 'operation'] -%}
    {{ spark_cdc._literal(tojson(load)) if column.name == 'note' else 'cast(null as ' ~ column.data_type ~ ')' }} as {{ column.at_sql }},
    {% endfor -%}
    {{ spark_cdc._partition(load) | indent(4) }},
    'L' as operation
{%- endset -%}
insert overwrite table {{ ledger }} partition ({{ partitions | join(', ') }})
{% if order is none -%}
{{ rows.replace('rows__of__load', sql) }}
{%- else -%}
{#- the user's own conditions are in the rows, and keep their blanks -#}
select
    {{ columns | map(attribute='at_sql') | join(',\n    ') }}
from (
    select /*+ repartition_by_range({{ partitions | join(', ') }}, cluster__order) */ *
    from (
        select
            *,
            {{ order }} as cluster__order
        from (
            {{ (rows | indent(12)).replace('rows__of__load', sql) }}
        ) as unordered
    ) as ordered
) as ranged
sort by {{ partitions | join(', ') }}, cluster__order
{%- endif -%}
{%- endmacro -%}


{#- The same for several loads, whose rows one query has. -#}
{%- macro _write_loads_sql(ledger, columns, loads, sql) -%}
{{ spark_cdc._write_rows_sql(ledger, columns, ['business_date', 'load_id', 'operation'], sql, 'rows_of_loads') }}

union all

select
    {% for column in columns if column.name not in ['business_date', 'load_id', 'operation'] -%}
    {{ 'record' if column.name == 'note' else 'cast(null as ' ~ column.data_type ~ ')' }} as {{ column.at_sql }},
    {% endfor -%}
    business_date,
    load_id,
    'L' as operation
from values
    {%- for load in loads %}
    ({{ spark_cdc._literal(tojson(load)) }}, date'{{ load.business_time[:10] }}', '{{ load.load_id }}'){{ ',' if not loop.last }}
    {%- endfor %}
    as records (record, business_date, load_id)
{%- endmacro -%}
