{#- Rows that differ between two states of an entity, as a query to select from: select * from ({{
    '{{' }} spark_cdc.diff(ref('orders_current'), '2024-03-01', '2024-03-04') {{ '}}' }}) as changed
    Arguments: view (relation of a view of the entity, such as <entity>_current), before and after
    (each a date or a load, whose state at its end is meant, a tag, the number of a commit, or draft
    (of a replay); after none: the present state; neither: that of production, and that of the
    branch that the view lies in).
    Returns a query: row_difference (added, removed or changed), the key columns, key_hash, and
    column_differences, an array of {column_name, value_before, value_after}, values as text.
    Untracked columns are not compared. -#}
{%- macro diff(view, before=none, after=none) -%}
    {#- the graph is not there at parse time -#}
    {%- if not execute -%}{{ return('') }}{%- endif -%}
    {%- set ctx = spark_cdc._context(spark_cdc._entity(spark_cdc._strip_entity_affix(view.identifier)), view.schema) -%}
    {{ return(spark_cdc._diff_of_sql(ctx, before, after)) }}
{%- endmacro -%}


{#- The query of diff(), of a context. -#}
{%- macro _diff_of_sql(ctx, before, after) -%}
    {%- set entity, timeline = ctx.entity, spark_cdc._published(ctx) -%}
    {%- do spark_cdc._check_timeline_columns(ctx, timeline) -%}
    {%- set with_production = before is none and after is none -%}
    {%- set states = {} -%}
    {%- for name in ['production' if with_production else before, after] -%}
        {%- set manifest = spark_cdc._named_state(ctx, timeline, name) -%}
        {%- if manifest.definition != timeline.definition and not with_production -%}
            {%- do exceptions.raise_compiler_error(entity.name ~ ': the columns of the ' ~ ('draft' if name == 'draft' else ('commit ' if name | string | int else 'tag ') ~ name)
                ~ " are not those of today, so that rows can't be compared. as_of(ref('" ~ entity.name ~ "_current'), tag='" ~ name
                ~ "') shows it with its own columns.") -%}
        {%- endif -%}
        {%- do states.update({loop.index: manifest.loads}) -%}
    {%- endfor -%}
    {{ return(spark_cdc._diff_sql(
        entity, spark_cdc._across_changes(entity, ctx.public, timeline.layout), states[1], states[2])) }}
{%- endmacro -%}


{#- Rows that differ between two states. Arguments: entity, ledger (relation, or query between
    brackets), before and after (lists of loads). Returns a query, see diff(). -#}
{%- macro _diff_sql(entity, ledger, before, after) -%}
with {{ spark_cdc._compared_loads_ctes(
    ledger, before, after, (entity.key_columns + entity.compared) | map(attribute='sql') | list, spark_cdc._operations('changes')) }},

compared as (
    select
        case
            when rows_before.key_hash is null then 'added'
            when rows_after.key_hash is null then 'removed'
            else 'changed'
        end as row_difference,
        {% for column in entity.key_columns -%}
        coalesce(rows_after.{{ column.sql }}, rows_before.{{ column.sql }}) as {{ column.sql }},
        {% endfor -%}
        {{ spark_cdc._hex('coalesce(rows_after.key_hash, rows_before.key_hash)') }} as key_hash,
        filter(
            array(
                cast(null as struct<column_name: string, value_before: string, value_after: string>)
                {%- for column in entity.compared %},
                {{ spark_cdc._diff_of_column(column) | indent(16) }}
                {%- endfor %}
            ),
            difference -> difference is not null
        ) as column_differences
    from (select * from states where not cdc__is_after and operation <> 'D') as rows_before
    full outer join (select * from states where cdc__is_after and operation <> 'D') as rows_after
        on rows_before.key_hash = rows_after.key_hash
    where not rows_before.nonkey_hash <=> rows_after.nonkey_hash
)

select * from compared
where row_difference <> 'changed' or size(column_differences) > 0
{%- endmacro -%}


{#- The comparison of two states (_compared_states_ctes()) by their lists of loads.
    Arguments: before and after (loads), columns (beside key_hash, nonkey_hash, operation,
    eff_start_date, load_id), operations (of the rows that tell a change). -#}
{%- macro _compared_loads_ctes(ledger, before, after, columns, operations) -%}
{%- set common = spark_cdc._common_loads(before, after) -%}
{%- set columns = ['load_id', 'operation', 'key_hash', 'nonkey_hash', 'eff_start_date'] + columns -%}
{%- set sides = [(before[common | length:], false), (after[common | length:], true)] | selectattr(0) | list or [([''], false)] -%}
{%- set changed -%}
{%- for loads, is_after in sides -%}
select
    {{ columns | join(',\n    ') }},
    {{ is_after | string | lower }} as cdc__is_after
from {{ spark_cdc._from(ledger) }}
where
    {{ spark_cdc._in_loads(loads) }}
    and operation in {{ operations }}
{{- '\n\nunion all\n\n' if not loop.last }}
{%- endfor -%}
{%- endset -%}
{{ spark_cdc._compared_states_ctes(ledger, changed, spark_cdc._state_loads(common), columns, operations) }}
{%- endmacro -%}


{#- The values of a column in both states, if they differ. Parts of arrays, maps and structs are
    shown as JSON. -#}
{%- macro _diff_of_column(column) -%}
{%- set text = {} -%}
{%- for state in ['rows_before', 'rows_after'] -%}
    {%- set value = state ~ '.' ~ column.sql -%}
    {%- if column.data_type.startswith(('array', 'map', 'struct')) -%}
        {%- do text.update({state: 'to_json(' ~ value ~ ')'}) -%}
    {%- else -%}
        {%- do text.update({state: spark_cdc._hex(value) if column.data_type == 'binary' else 'cast(' ~ value ~ ' as string)'}) -%}
    {%- endif -%}
{%- endfor -%}
if(
    {{ text.rows_before }} <=> {{ text.rows_after }},
    null,
    named_struct('column_name', {{ spark_cdc._literal(column.name) }}, 'value_before', {{ text.rows_before }}, 'value_after', {{ text.rows_after }})
)
{%- endmacro -%}


{#- A part of state(): the rows that differ between two states, see diff(). Returns a dictionary:
    before and after (what the states are called), counts (by row_difference), rows (at most so
    many). Arguments: before, after (as of diff()), row_limit. -#}
{%- macro _state_diff(ctx, before=none, after=none, row_limit=20) -%}
    {%- set sql = spark_cdc._diff_of_sql(ctx, before, after) -%}
    {%- set keys = ctx.entity.key_columns | map(attribute='sql') | list or ['key_hash'] -%}
    {%- set counts, rows = {'added': 0, 'removed': 0, 'changed': 0}, [] -%}
    {%- for row in spark_cdc._query('select row_difference, count(*) as row_count from (\n' ~ sql ~ '\n) as compared group by row_difference') -%}
        {%- do counts.update({row.row_difference: row.row_count | int}) -%}
    {%- endfor -%}
    {%- if counts.values() | sum -%}
        {%- set rows_sql -%}
select to_json(struct(row_difference, struct({{ keys | join(', ') }}) as keys, column_differences)) as found
from (
{{ sql }}
) as compared
order by {{ keys | join(', ') }}
limit {{ row_limit }}
        {%- endset -%}
        {%- for row in spark_cdc._query(rows_sql) -%}{%- do rows.append(fromjson(row.found)) -%}{%- endfor -%}
    {%- endif -%}
    {%- set states = {'before': 'production', 'after': 'the branch'} if before is none and after is none
        else {'before': before or 'now', 'after': after or 'now'} -%}
    {{ return(dict(states, counts=counts, rows=rows)) }}
{%- endmacro -%}
