{%- macro _create_events_sql(events, columns, file_format) -%}
create table if not exists {{ events }} (
    {% for column in columns -%}
    {{ column.at_sql }} {{ column.data_type }}{{ ',' if not loop.last }}
    {% endfor -%}
)
{{ spark_cdc._storage_sql(file_format, ['business_date', 'load_id'], ['key_hash', 'event_hash']) }}
{%- endmacro -%}


{#- Partitions bear the load's name, which no other attempt has. -#}
{%- macro _write_events_sql(events, columns, sql) -%}
insert overwrite table {{ events }} partition (business_date, load_id)
select
    {% for column in columns -%}
    {{ spark_cdc._written_sql(column) }}{{ ',' if not loop.last }}
    {% endfor -%}
from (
{{ sql }}
) as events_of_load
{%- endmacro -%}


{#- Drops the events of loads that are in the ledger already, and no others: another run may be between its two tables. -#}
{%- macro _drop_events_of(events, loads) -%}
    {%- set partitions = [] -%}
    {%- for load_id, of_load in spark_cdc._partitions_by_load(events).items() if load_id in loads -%}
        {%- do partitions.extend(of_load) -%}
    {%- endfor -%}
    {%- if partitions -%}
        {%- do run_query(spark_cdc._drop_partitions_sql(events, partitions)) -%}
    {%- endif -%}
{%- endmacro -%}
