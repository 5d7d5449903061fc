{#- Whether a change is one of another table than the entity's. events.table is the table's name,
    alone or with all or some of what qualifies it; several names, and names with *, are those of
    tables whose rows belong together. Without the setting all changes count, and those that name no
    table.
    Arguments: entity, table (as of _event_origin()).
    Returns a condition that is never null. -#}
{%- macro _is_other_table(entity, table) -%}
{%- set name = spark_cdc._event_origin_table(table) -%}
{%- set conditions = [] -%}
{%- for wanted in spark_cdc._names(entity.events.get('table')) -%}
    {%- if '*' in wanted -%}
        {%- set pattern = wanted.replace('!', '!!').replace('%', '!%').replace('_', '!_').replace('*', '%') -%}
        {%- do conditions.append("concat('.', " ~ name ~ ') like ' ~ spark_cdc._literal('%.' ~ pattern) ~ " escape '!'") -%}
    {%- else -%}
        {%- do conditions.append("endswith(concat('.', " ~ name ~ '), ' ~ spark_cdc._literal('.' ~ wanted) ~ ')') -%}
    {%- endif -%}
{%- endfor -%}
{{ 'not coalesce(' ~ conditions | join(' or ') ~ ', true)' if conditions else 'false' }}
{%- endmacro -%}


{#- A full snapshot as change events, in a run that takes one into an entity of events: behind all
    that has its position the table is emptied, and each of its rows inserted. So a row that was
    there before is updated or unchanged, one that the snapshot lacks is deleted, and what is later
    than the snapshot stays. -#}
{%- macro _events_full_snapshot(entity, typed) -%}
{%- set position = spark_cdc._full_snapshot_position(entity) -%}
select
    *,
    {{ spark_cdc._full_snapshot_columns('insert', position, '9223372036854775807L') | indent(4) }}
from {{ typed }}

union all

select
    nothing.*,
    {{ spark_cdc._full_snapshot_columns('truncate', position, '9223372036854775806L') | indent(4) }}
from (select 1 as one) as once
left join (select * from {{ typed }} where false) as nothing
    on true
{%- endmacro -%}


{%- macro _full_snapshot_columns(operation, position, place) -%}
'{{ operation }}' as event_op,
array({{ position }}, {{ place }}) as event_position,
cast(null as string) as event_transaction,
cast(null as timestamp) as event_time,
cast(null as string) as event_problem,
cast(null as map<string, string>) as event_before
{%- endmacro -%}


{#- There are no technical columns; that there is this macro says that the rows have columns of
    their own. -#}
{%- macro _events_full_snapshot_columns(entity) -%}{{ return([]) }}{%- endmacro -%}


{#- The position as expressions of numbers, as _event_position() has them. -#}
{%- macro _full_snapshot_position(entity) -%}
    {%- set position = entity.events.snapshot -%}
    {%- if position is none -%}{{ return('0L') }}  {#- validate() has refused the run; dbt compile has no position -#}
    {%- elif 'numbers' in position -%}{{ return(position.numbers | join('L, ') ~ 'L') }}
    {%- endif -%}
    {%- set text = spark_cdc._literal(position.time.strftime('%Y-%m-%d %H:%M:%S')) -%}
    {%- set sql = spark_cdc._cast_instant(text, none, entity.timezone) if position.type == 'timestamp' else 'cast(' ~ text ~ ' as ' ~ position.type ~ ')' -%}
    {{ return(spark_cdc._order_parts([{'data_type': position.type, 'sql': sql}])[0]) }}
{%- endmacro -%}
