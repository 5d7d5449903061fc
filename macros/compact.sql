{#- Squashes the older loads of a ledger into two, so that manifest, partitions and files stay few, while no view changes:
    a history (kind h: all their I, U and D rows, each in the partition of its own business date) and, right after it, a
    checkpoint (kind hc: the whole state after the last of them, as X rows; of change events also the tombstones).
    Histories that earlier calls wrote are kept, so that old rows are not written again and again. The last load is never
    squashed. Without execute it only says what it would do.
        dbt run-operation spark_cdc.compact --args '{entities: [orders], older_than_days: 1, execute: true}'
    Arguments: entities (list of names, or one; none for all), older_than_days (counted back from the business date of the
    last load; 0 for all loads before the last), histories (whether earlier histories are merged into the new one),
    execute. Returns the number of loads that were squashed, or would be. -#}
{%- macro compact(entities=none, older_than_days=30, histories=false, execute=false) -%}
    {%- do spark_cdc._check_arguments('compact', {'entities': entities, 'older_than_days': older_than_days, 'histories': histories, 'execute': execute}) -%}
    {%- set total = namespace(loads=0) -%}
    {%- for capture in spark_cdc._captures('compact', entities) -%}
        {%- set total.loads = total.loads + spark_cdc._compact_entity(capture, older_than_days, histories, execute) -%}
    {%- endfor -%}
    {%- do log(
        'compact: ' ~ ('squashed ' if execute else 'would squash ') ~ spark_cdc._counted(total.loads, 'load')
        ~ ('' if execute or not total.loads else '. Nothing was written: that takes execute: true (--execute)'),
        info=true
    ) -%}
    {{ return(total.loads) }}
{%- endmacro -%}
