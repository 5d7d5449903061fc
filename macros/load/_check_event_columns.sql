{#- Looks for declared columns that no event brings: most often a name is misspelt. One event need not have all columns, nor a load of updates
    and deletes any, so it takes a whole row (an insert or a row of a snapshot) and no event with the column. All events are looked at only if
    the first 1,000 lack one. Returns none, or why the load is to be refused: {guard, message}. -#}
{%- macro _check_event_columns(entity, input) -%}
    {%- set columns = entity.stored | rejectattr('role', 'equalto', 'key') | list -%}
    {%- set can_lack = entity.events.is_message or entity.source.format == 'json' -%}
    {%- if not can_lack or entity.source.on_missing_column != 'error' or not columns -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set landed = spark_cdc._landed_view(entity) -%}
    {%- for relation in ['(select * from ' ~ landed ~ ' limit 1000)', landed] -%}
        {%- set found = spark_cdc._query(spark_cdc._event_columns_sql(entity, columns, relation))[0] -%}
        {%- set missing = [] -%}
        {%- for column in (columns if found.whole_rows | int else []) -%}
            {%- if not found['with_' ~ loop.index] | int -%}{%- do missing.append(column.from) -%}{%- endif -%}
        {%- endfor -%}
        {%- if not missing -%}
            {{ return(none) }}
        {%- elif loop.last -%}
            {%- set message -%}
{{ entity.name }}: no event of {{ input }} has {{ missing | join(', ') }}.
  declared: {{ entity.stored | map(attribute='from') | join(', ') }}
  not declared, but there: {{ fromjson(found.unexpected) | join(', ') or 'nothing' }}
Correct the data or the columns of stg_{{ entity.name }}; `from` gives a name in the source, in the same case, and {# -#}
source.on_missing_column: null lifts the check. Nothing was written.
            {%- endset -%}
            {{ return({'guard': 'missing_columns', 'message': message}) }}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}


{%- macro _event_columns_sql(entity, columns, landed) -%}
select
    count_if(event_op in ('insert', 'read')) as whole_rows,
    {%- for column in columns %}
    count_if(
        event_op in ('insert', 'update', 'upsert', 'read')
        and not coalesce(array_contains(event_absent, {{ spark_cdc._literal(column.name) }}), false)
    ) as with_{{ loop.index }},
    {%- endfor %}
    to_json(array_sort(array_distinct(flatten(collect_set(event_unexpected))))) as unexpected
from (
    {{ spark_cdc._stage_events_sql(entity, landed) | indent(4) }}
) as events
{%- endmacro -%}
