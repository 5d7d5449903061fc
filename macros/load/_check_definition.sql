{#- Where the columns, types or roles of an entity are not those of the load that this one builds on: works out what becomes of the rows
    before, and checks that they fit, before anything is written. What can't be applied, or isn't explained by the YAML, is refused.
    Arguments: run (capture; its ledger holds the rows before), load (of _plan_load()), with_values (whether the values of the rows are
    looked at). Returns none if nothing has changed, or a dictionary: layout (the new one), definition_change (what is different, in words),
    prior (the rows of the ledger under the new definition, as a query between brackets). -#}
{%- macro _check_definition(run, load, with_values=true) -%}
    {%- if not load.redefines -%}{{ return(none) }}{%- endif -%}
    {%- set entity, ledger = run.entity, run.ledger -%}
    {%- set record = spark_cdc._load_records(ledger, [load.parent]).get(load.parent) -%}
    {%- if not record -%}
        {%- do spark_cdc._refuse_definition(entity, ['the record of ' ~ load.parent ~ ', which says what its columns were, is missing in ' ~ ledger], load) -%}
    {%- endif -%}
    {%- set diff = spark_cdc._definition_diff(entity, record.definition) -%}
    {%- if diff.problems -%}
        {%- do spark_cdc._refuse_definition(entity, diff.problems, load) -%}
    {%- elif not diff.changes -%}  {#- types or names are only written in another way -#}
        {{ return(none) }}
    {%- endif -%}
    {%- if with_values and spark_cdc._is_load_command() -%}
        {%- for problems in [spark_cdc._default_problems(diff), spark_cdc._value_problems(ledger, load, diff), spark_cdc._key_problems(ledger, load, diff)]
                if problems -%}
            {%- do spark_cdc._refuse_definition(entity, problems, load) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- set found = spark_cdc._columns_found(run) -%}
    {#- this session has read the ledger, and Spark would go on with the columns that it saw then; another one may add some now -#}
    {%- do run_query('refresh table ' ~ ledger) -%}
    {{ return({
        'prior': spark_cdc._restated_ledger(entity, ledger, load.layout, diff),
        'layout': spark_cdc._layout(diff, load.layout, found, load.load_id.split('-')[0]),
        'definition_change': diff.changes | join('; '),
    }) }}
{%- endmacro -%}


{#- Types of the ledger's columns by name; and of the events' table, which holds the stored columns under the same names. -#}
{%- macro _columns_found(run) -%}
    {%- set found = {} -%}
    {%- for relation in [load_relation(run.events) if run.entity.events else none, run.ledger] if relation is not none -%}
        {%- for column in adapter.get_columns_in_relation(relation) -%}
            {%- do found.update({column.name | lower: spark_cdc._plain_type(column.dtype)}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- Each default must be a value of its column's type. -#}
{%- macro _default_problems(diff) -%}
    {%- set problems = [] -%}
    {%- for item in diff.columns if item.default is not none -%}
        {%- if spark_cdc._query('select ' ~ item.default ~ ' is null as is_null')[0].is_null -%}
            {%- do problems.append("column '" ~ item.column.name ~ "': its default '" ~ item.column.default ~ "' is no " ~ item.column.data_type
                ~ ': correct one of them') -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- Every value that people can see has to fit its column's new type, unless the column says that it may be lost. -#}
{%- macro _value_problems(ledger, load, diff) -%}
    {%- set changed = [] -%}
    {%- for item in diff.columns if item.conversion is not none and item.conversion.misfit != 'false' and item.column.on_misfit != 'null' -%}
        {%- set former = spark_cdc._place_sql(spark_cdc._place(load.layout, item.former)) -%}
        {%- do changed.append({
            'column': item.column, 'type': item.former.type, 'value': former, 'misfit': item.conversion.misfit | replace('raw__value', former)
        }) -%}
    {%- endfor -%}
    {%- if not changed -%}{{ return([]) }}{%- endif -%}
    {%- set found = spark_cdc._query(spark_cdc._misfits_sql(ledger, load.keep, changed))[0] -%}
    {%- set problems = [] -%}
    {%- for change in changed -%}
        {%- set misfits = found['misfits_' ~ loop.index] -%}
        {%- if misfits -%}
            {%- set examples = spark_cdc._query(spark_cdc._misfit_examples_sql(ledger, load.keep, change)) | map(attribute='example') -%}
            {%- set problem -%}
column '{{ change.column.name }}' was {{ change.type }} and is {{ change.column.data_type }}, but {{ misfits }} {# -#}
{{ 'stored value does' if misfits == 1 else 'stored values do' }} not fit, such as '{{ examples | join("', '") }}'. Take a type that holds {# -#}
them; or give the column `on_misfit: "null"` under its meta, and they read as null (the ledger keeps them); or declare a column of another {# -#}
name, and name this one as dropped
            {%- endset -%}
            {%- do problems.append(problem) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{%- macro _misfits_sql(ledger, loads, changed) -%}
select
    {%- for change in changed %}
    count_if({{ change.misfit }}) as misfits_{{ loop.index }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ ledger }}
where {{ spark_cdc._in_loads(loads) }} and operation in {{ spark_cdc._operations('visible') }}
{%- endmacro -%}


{%- macro _misfit_examples_sql(ledger, loads, change) -%}
{%- set text = 'to_json(' ~ change.value ~ ')' if modules.re.match('array|map|struct', change.type) else 'cast(' ~ change.value ~ ' as string)' -%}
select distinct left({{ text }}, 60) as example
from {{ ledger }}
where {{ spark_cdc._in_loads(loads) }} and operation in {{ spark_cdc._operations('visible') }} and {{ change.misfit }}
limit 5
{%- endmacro -%}


{#- Under another key the rows of one key must stay together and apart from all others, in the whole history: else versions would be torn or
    mixed up. -#}
{%- macro _key_problems(ledger, load, diff) -%}
    {%- if diff.key != 'other' -%}{{ return([]) }}{%- endif -%}
    {%- set problems = [] -%}
    {%- for what, condition, grouped_by in [
        ('former keys with a null in the new key', 'is_null', none),
        ('new keys that would stand for several former ones', none, 'new_key'),
        ('former keys that would fall apart into several new ones', none, 'old_key'),
    ] -%}
        {%- set examples = spark_cdc._query(spark_cdc._torn_keys_sql(ledger, load, diff, condition, grouped_by)) -%}
        {%- if examples -%}
            {%- set problem -%}
{{ what }} in the loads so far: {{ examples[0].key_count }}, such as {{ examples | map(attribute='example') | join(', ') }}. Take a key {# -#}
that identifies the same rows one by one, or put the former one back
            {%- endset -%}
            {%- do problems.append(problem) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{%- macro _torn_keys_sql(ledger, load, diff, condition, grouped_by) -%}
{%- set now = [] -%}
{%- set former = [] -%}
{%- for item in diff.columns -%}
    {%- if item.column.role == 'key' -%}{%- do now.append({'name': item.column.name, 'sql': spark_cdc._former_sql(item, load.layout)}) -%}{%- endif -%}
    {%- if item.former is not none and item.former.role == 'key' -%}{%- do former.append(item.former) -%}{%- endif -%}
{%- endfor -%}
{%- set old = [] -%}
{%- for column in former + diff.dropped | selectattr('role', 'equalto', 'key') | list -%}
    {%- do old.append({'name': column.name, 'sql': spark_cdc._place_sql(spark_cdc._place(load.layout, column))}) -%}
{%- endfor -%}
select
    example,
    count(*) over () as key_count
from (
    select {{ grouped_by or 'old_key' }} as example
    from (
        select distinct
            {{ spark_cdc._named_json(old) }} as old_key,
            {{ spark_cdc._named_json(now) }} as new_key,
            {{ spark_cdc._any_null(now) }} as is_null
        from {{ ledger }}
        where {{ spark_cdc._in_loads(load.keep) }} and operation in {{ spark_cdc._operations('visible') }}
    ) as pairs
    {%- if condition %}
    where {{ condition }}
    {%- else %}
    group by {{ grouped_by }}
    having count(*) > 1
    {%- endif %}
) as examples
limit 5
{%- endmacro -%}


{%- macro _named_json(columns) -%}
to_json(named_struct(
    {%- for column in columns -%}
    {{ spark_cdc._literal(column.name) }}, {{ column.sql }}{{ ', ' if not loop.last }}
    {%- endfor -%}
))
{%- endmacro -%}
