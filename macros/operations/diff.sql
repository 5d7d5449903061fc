{#- Rows that differ between two states of an entity, as a query to select from: select * from ({{
    '{{' }} spark_cdc.diff(ref('orders_current'), '2024-03-01', '2024-03-04') {{ '}}' }}) as changed
    Arguments: view (relation of a view of the entity, such as <entity>_current), before and
    after (each a date or a load, whose state at its end is meant, a tag, or draft (of a replay);
    after none: the present state; neither: that of production, and that of the branch that the
    view lies in). Returns a query: row_difference (added, removed or changed), the key columns,
    key_hash, and column_differences, an array of {column_name, value_before, value_after},
    values as text. Untracked columns are not compared. -#}
{%- macro diff(view, before=none, after=none) -%}
    {#- the graph is not there at parse time -#}
    {%- if not execute -%}{{ return('') }}{%- endif -%}
    {%- set capture = spark_cdc._capture(spark_cdc._entity(spark_cdc._strip_entity_affix(view.identifier)), view.schema) -%}
    {{ return(spark_cdc._diff_of_sql(capture, before, after)) }}
{%- endmacro -%}


{#- The query of diff(), of a capture. -#}
{%- macro _diff_of_sql(capture, before, after) -%}
    {%- set entity, head = capture.entity, spark_cdc._published(capture) -%}
    {%- do spark_cdc._check_head_columns(capture, head) -%}
    {%- set with_production = before is none and after is none -%}
    {%- set states = {} -%}
    {%- for name in ['production' if with_production else before, after] -%}
        {%- set manifest = spark_cdc._named_state(capture, head, name) -%}
        {%- if manifest.definition != head.definition and not with_production -%}
            {%- do exceptions.raise_compiler_error(entity.name ~ ': the columns of the ' ~ ('draft' if name == 'draft' else 'tag ' ~ name)
                ~ " are not those of today, so that rows can't be compared. as_of(ref('" ~ entity.name ~ "_current'), tag='" ~ name
                ~ "') shows it with its own columns.") -%}
        {%- endif -%}
        {%- do states.update({loop.index: manifest.loads}) -%}
    {%- endfor -%}
    {{ return(spark_cdc._diff_sql(
        entity, spark_cdc._across_changes(entity, capture.masked, head.layout), states[1], states[2])) }}
{%- endmacro -%}


{#- Rows that differ between two states. Only keys with a change in a load of one state that the
    other lacks can differ: their rows alone are ranked and compared.
    Arguments: entity, ledger (relation, or query between brackets), before and after (lists of
    loads). Returns a query, see diff(). -#}
{%- macro _diff_sql(entity, ledger, before, after) -%}
{%- set apart = before | reject('in', after) | list + after | reject('in', before) | list -%}
{%- set states = {'rows_before': spark_cdc._state_loads(before), 'rows_after': spark_cdc._state_loads(after)} -%}
{%- set needed = [] -%}
{%- for state in states.values() -%}{%- do needed.extend([state.base] | select | list + state.log) -%}{%- endfor -%}
{%- set compared = entity.key_columns + entity.compared -%}
with touched as (
    select distinct key_hash
    from {{ spark_cdc._from(ledger) | indent(4) }}
    where
        {{ spark_cdc._in_loads(apart or ['']) }}
        and operation in {{ spark_cdc._operations('changes') }}
),

rows_of_loads as (
    select
        rows_of_ledger.load_id,
        rows_of_ledger.operation,
        rows_of_ledger.key_hash,
        rows_of_ledger.nonkey_hash
        {%- for column in compared %},
        rows_of_ledger.{{ column.sql }}
        {%- endfor %}
    from {{ ledger | string | indent(4) }} as rows_of_ledger
    left semi join touched
        on rows_of_ledger.key_hash = touched.key_hash
    where rows_of_ledger.{{ spark_cdc._in_loads(needed | unique | list or ['']) }}
),
{% for name, state in states.items() %}
{{ name }} as (
    {{ spark_cdc._state_sql(
        'rows_of_loads', spark_cdc._in_loads([state.base or '']), spark_cdc._in_loads(state.log) if state.log else none,
        ['key_hash', 'nonkey_hash'] + compared | map(attribute='sql') | list, false) | indent(4) }}
),
{% endfor %}
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
    from rows_before
    full outer join rows_after
        on rows_before.key_hash = rows_after.key_hash
    where not rows_before.nonkey_hash <=> rows_after.nonkey_hash
)

select * from compared
where row_difference <> 'changed' or size(column_differences) > 0
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
{%- macro _state_diff(capture, before=none, after=none, row_limit=20) -%}
    {%- set sql = spark_cdc._diff_of_sql(capture, before, after) -%}
    {%- set keys = capture.entity.key_columns | map(attribute='sql') | list -%}
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
order by {{ keys | join(', ') or 'key_hash' }}
limit {{ row_limit }}
        {%- endset -%}
        {%- for row in spark_cdc._query(rows_sql) -%}{%- do rows.append(fromjson(row.found)) -%}{%- endfor -%}
    {%- endif -%}
    {%- set states = {'before': 'production', 'after': 'the branch'} if before is none and after is none
        else {'before': before or 'now', 'after': after or 'now'} -%}
    {{ return(dict(states, counts=counts, rows=rows)) }}
{%- endmacro -%}
