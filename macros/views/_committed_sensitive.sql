{#- The text of the view <entity>_committed_sensitive: the rows that count with their sensitive columns. Which loads count it reads from the records of loads in
    <entity>_committed, so that one commit shows both; partitions are pruned by the join on load_id.
    Arguments: entity, ledger (relation with the values), committed (relation of <entity>_committed), layout (of the manifest). Returns a query with
    the columns of _committed_sql(). -#}
{%- macro _committed_sensitive_sql(entity, ledger, committed, layout={}) -%}
{%- set of_load = ['in_base', 'in_log', 'in_last_load', 'carried_operation', 'squashed_load_ids', 'load_record', 'recommitted'] -%}
{%- set stored = spark_cdc._ledger_columns(entity) | rejectattr('name', 'equalto', 'note') | list -%}
{%- set columns = [] -%}
{%- for column in stored -%}{%- do columns.append(spark_cdc._shown_sql(entity, column, layout)) -%}{%- endfor -%}
{%- for name, place in (layout.get('shown') or {}).items() -%}
    {%- do columns.append(spark_cdc._aliased(spark_cdc._place_sql(place), spark_cdc._quote(name))) -%}
{%- endfor -%}
select /*+ broadcast(counted) */
    {% for column in stored -%}
    loaded.{{ column.sql }},
    {% endfor -%}
    counted.in_base,
    counted.in_log,
    counted.in_last_load,
    counted.carried_operation,
    if(loaded.operation = 'L', counted.squashed_load_ids, null) as squashed_load_ids,
    if(loaded.operation = 'L', counted.load_record, null) as load_record,
    counted.recommitted
    {%- for name in layout.get('shown') or {} %},
    loaded.{{ spark_cdc._quote(name) }}
    {%- endfor %}
from (
    select
        {{ columns | join(',\n') | indent(8) }}
    from {{ ledger }}
    where operation in {{ spark_cdc._operations('committed') }}
) as loaded
inner join (
    select
        load_id,
        {{ of_load | join(',\n        ') }}
    from {{ committed }}
    where operation = 'L'
) as counted
    on loaded.load_id = counted.load_id
{%- endmacro -%}


{#- The query of that model. -#}
{%- macro _committed_sensitive_query() -%}
    {%- do config(materialized='cdc_view', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -%}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set committed = spark_cdc._whole(ref(name ~ '_committed')) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {%- set entity, manifest = spark_cdc._entity(name), spark_cdc._manifest_of_view(committed) -%}
    {%- set ledger = spark_cdc._capture(entity, committed.schema).ledger -%}
    {{ return(spark_cdc._typed_view_query(spark_cdc._committed_sensitive_sql(entity, ledger, committed, manifest.get('layout') or {}), manifest)) }}
{%- endmacro -%}
