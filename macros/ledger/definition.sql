{#- Where the columns, types or roles of an entity are not those of the load that this one builds
    on: works out what becomes of the rows before, and refuses, before anything is written, what
    can't be applied or isn't explained by the YAML.
    Arguments: run (ctx), load (of _plan_load()), with_values (whether the values of the rows
    are looked at). Returns none if nothing has changed, or a dictionary: layout (the new one),
    definition_change (what is different, in words), prior (the ledger's rows under the new
    definition, as a query between brackets). -#}
{%- macro _check_definition(run, load, with_values=true) -%}
    {%- if not load.redefines -%}{{ return(none) }}{%- endif -%}
    {%- set entity, ledger = run.entity, run.ledger -%}
    {%- set record = spark_cdc._load_records(run.public, [load.parent]).get(load.parent) -%}
    {%- if not record -%}
        {%- set problem = 'the record of ' ~ load.parent ~ ', which says what its columns were, is missing in ' ~ run.public -%}
        {%- do spark_cdc._refuse_definition(entity, [problem], load) -%}
    {%- endif -%}
    {%- set diff = spark_cdc._definition_diff(entity, record.definition) -%}
    {%- if diff.problems -%}
        {%- do spark_cdc._refuse_definition(entity, diff.problems, load) -%}
    {%- elif not diff.changes -%}  {#- types or names are only written in another way -#}
        {{ return(none) }}
    {%- elif diff.key != 'same' and spark_cdc._erased(entity) is not none -%}
        {%- set problem = 'keys were erased, which are known by the key as it is, so that with another one they would come back: put the former key back (' ~
            spark_cdc._erased_list(entity) ~ ' has the list)' -%}
        {%- do spark_cdc._refuse_definition(entity, [problem], load) -%}
    {%- endif -%}
    {%- if with_values and spark_cdc._mode() != 'look' -%}
        {%- set problems = [] -%}
        {%- for item in diff.columns if item.default is not none -%}
            {%- if spark_cdc._query('select ' ~ item.default ~ ' is null as is_null')[0].is_null -%}
                {%- do problems.append("column '%s': its default '%s' is no %s: correct one of them"
                    % (item.column.name, item.column.default, item.column.data_type)) -%}
            {%- endif -%}
        {%- endfor -%}
        {%- set problems = problems or spark_cdc._value_problems(ledger, load, diff) or ([] if entity.keyless else spark_cdc._key_problems(ledger, load, diff)) -%}
        {%- if problems -%}{%- do spark_cdc._refuse_definition(entity, problems, load) -%}{%- endif -%}
    {%- endif -%}
    {#- types by name; the events' table holds the stored columns under the same names -#}
    {%- set found = {} -%}
    {#- in a plan the events are a view of the session, with the columns as they are now -#}
    {%- set archive = run.events if entity.events and run.events is not string else none -%}
    {%- for relation in [archive if archive is not none and spark_cdc._is_listed(archive) else none, ledger] if relation is not none -%}
        {%- for column in adapter.get_columns_in_relation(relation) -%}
            {%- do found.update({column.name | lower: spark_cdc._plain_type_shown(column.dtype)}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {#- this session has read the ledger, and Spark would go on with the columns that it saw then;
        another one may add some now -#}
    {%- do spark_cdc._refresh(ledger) -%}
    {{ return({
        'prior': spark_cdc._restated_ledger(entity, ledger, load.layout, diff),
        'layout': spark_cdc._layout(diff, load.layout, found, load.load_id.split('-')[0]),
        'definition_change': diff.changes | join('; '),
    }) }}
{%- endmacro -%}


{#- Every value that people can see has to fit its column's new type, unless the column says that it
    may be lost. -#}
{%- macro _value_problems(ledger, load, diff) -%}
    {%- set changed = [] -%}
    {%- for item in diff.columns if item.conversion is not none and item.conversion.misfit != 'false' and item.column.on_cast_error != 'null' -%}
        {%- set former = spark_cdc._place_sql(spark_cdc._place(load.layout, item.former)) -%}
        {%- do changed.append({
            'column': item.column, 'type': item.former.type, 'value': former, 'misfit': item.conversion.misfit | replace('cdc__raw_value', former)
        }) -%}
    {%- endfor -%}
    {%- if not changed -%}{{ return([]) }}{%- endif -%}
    {%- set visible = spark_cdc._in_loads(load.keep) ~ ' and operation in ' ~ spark_cdc._operations('visible') -%}
    {%- set counts_sql -%}
select
    {%- for change in changed %}
    count_if({{ change.misfit }}) as misfits_{{ loop.index }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ ledger }}
where {{ visible }}
    {%- endset -%}
    {%- set found = spark_cdc._query(counts_sql)[0] -%}
    {%- set problems = [] -%}
    {%- for change in changed -%}
        {%- set misfits = found['misfits_' ~ loop.index] -%}
        {%- if misfits -%}
            {%- set is_nested = change.type.split('<')[0] in ['array', 'map', 'struct'] -%}
            {%- set examples_sql -%}
select distinct left({{ 'to_json(%s)' % change.value if is_nested else 'cast(%s as string)' % change.value }}, 60) as example
from {{ ledger }}
where {{ visible }} and {{ change.misfit }}
limit 5
            {%- endset -%}
            {%- set examples = spark_cdc._query(examples_sql) | map(attribute='example') -%}
            {%- set problem -%}
column '{{ change.column.name }}' was {{ change.type }} and is {{ change.column.data_type }}, but {{ misfits }} {# -#}
{{ 'stored value does' if misfits == 1 else 'stored values do' }} not fit, such as '{{ examples | join("', '") }}'. Take a type that holds {# -#}
them; or give the column `on_cast_error: "null"` under its meta, and they read as null (the ledger keeps them); or declare a column of another {# -#}
name, and name this one as dropped
            {%- endset -%}
            {%- do problems.append(problem) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- Under another key the rows of one key must stay together and apart from all others, in the whole
    history: else versions would be torn or mixed up. -#}
{%- macro _key_problems(ledger, load, diff) -%}
    {%- if diff.key != 'other' -%}{{ return([]) }}{%- endif -%}
    {#- the keys of the rows so far as they were and as they would be, as JSON -#}
    {%- set old, new = [], [] -%}
    {%- for item in diff.columns if item.column.role == 'key' -%}
        {%- do new.append({'name': item.column.name, 'sql': spark_cdc._former_sql(item, load.layout)}) -%}
    {%- endfor -%}
    {%- for column in (diff.columns | map(attribute='former') | reject('none') | list + diff.dropped) if column.role == 'key' -%}
        {%- do old.append({'name': column.name, 'sql': spark_cdc._place_sql(spark_cdc._place(load.layout, column))}) -%}
    {%- endfor -%}
    {%- set pairs -%}
select distinct
    {%- for name, columns in [('old_key', old), ('new_key', new)] %}
    to_json(named_struct(
        {%- for column in columns -%}
        {{ spark_cdc._literal(column.name) }}, {{ column.sql }}{{ ', ' if not loop.last }}
        {%- endfor -%}
    )) as {{ name }},
    {%- endfor %}
    {{ spark_cdc._any_null(new) }} as is_null
from {{ ledger }}
where {{ spark_cdc._in_loads(load.keep) }} and operation in {{ spark_cdc._operations('visible') }}
    {%- endset -%}
    {%- set has_sensitive = diff.columns | map(attribute='column') | selectattr('sensitive') | list + diff.dropped | selectattr('mask') | list != [] -%}
    {%- set problems = [] -%}
    {%- for what, key, condition in [
        ('former keys with a null in the new key', 'old_key', 'where is_null'),
        ('new keys that would stand for several former ones', 'new_key', 'group by new_key having count(*) > 1'),
        ('former keys that would fall apart into several new ones', 'old_key', 'group by old_key having count(*) > 1'),
    ] -%}
        {%- set sql -%}
select
    example,
    count(*) over () as key_count
from (
    select {{ key }} as example
    from (
        {{ pairs | indent(8) }}
    ) as pairs
    {{ condition }}
) as examples
limit 5
        {%- endset -%}
        {%- set examples = spark_cdc._query(sql) -%}
        {%- if examples -%}
            {%- set problem -%}
{{ what }} in the loads so far: {{ examples[0].key_count }}, {# -#}
{{ spark_cdc._restricted_values_text() if has_sensitive else 'such as ' ~ examples | map(attribute='example') | join(', ') }}. Take a key {# -#}
that identifies the same rows one by one, or put the former one back
            {%- endset -%}
            {%- do problems.append(problem) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- Refuses a load whose columns can't follow those of the loads before.
    Arguments: entity, problems (texts), load (of _plan_load(), if known). -#}
{%- macro _refuse_definition(entity, problems, load=none) -%}
    {%- set message -%}
{{ entity.name }}: the columns have changed since the last load, and the change can't be applied:
  - {{ problems | join('.\n  - ') }}.
Nothing was written; docs/schema_change.md lists the changes that can be applied. To drop all loads and restart the ledger:
  {{ spark_cdc._load_command(entity, load.business_time if load else spark_cdc._business_date(entity.name), reset=true) }}
    {%- endset -%}
    {%- do spark_cdc._refuse_load(entity, 'definition', message, load) -%}
{%- endmacro -%}


{#- Looks for declared columns that no event brings: most often a name is misspelt. One event need
    not have all columns, nor a load of updates and deletes any, so it takes a whole row (an insert
    or a row of a snapshot) and no event with the column. All events are looked at only if the first
    1,000 lack one. Returns none, or why the load is to be refused: {guard, message}. -#}
{%- macro _check_event_columns(entity, input) -%}
    {%- set columns = entity.stored | rejectattr('role', 'equalto', 'key') | list -%}
    {%- set can_lack = entity.events.is_message or entity.source.facts.has_names -%}
    {%- if not can_lack or entity.source.on_missing_column != 'error' or not columns -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set landed = spark_cdc._landed_view(entity) -%}
    {%- for relation in ['(select * from ' ~ landed ~ ' limit 1000)', landed] -%}
        {%- set sql -%}
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
    {{ spark_cdc._stage_events_sql(entity, relation) | indent(4) }}
) as events
        {%- endset -%}
        {%- set found = spark_cdc._query(sql)[0] -%}
        {%- set missing = [] -%}
        {%- for column in (columns if found.whole_rows | int else []) -%}
            {%- if not found['with_' ~ loop.index] | int -%}{%- do missing.append(column.from) -%}{%- endif -%}
        {%- endfor -%}
        {%- if not missing -%}
            {{ return(none) }}
        {%- elif loop.last -%}
            {%- set problem -%}
no event of {{ input }} has {{ missing | join(', ') }}.
  declared: {{ entity.stored | map(attribute='from') | join(', ') }}
  not declared, but there: {{ fromjson(found.unexpected) | join(', ') or 'nothing' }}
Correct the data or the columns of stg_{{ entity.name }}; `from` gives a name in the source, in the same case, and
source.on_missing_column: null skips the check.
            {%- endset -%}
            {{ return(spark_cdc._load_refusal(entity, 'missing_columns', problem)) }}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}


{#- What stands in messages in the place of values, of entities with sensitive columns. -#}
{%- macro _restricted_values_text() -%}{{ return('values are not shown, since the entity has sensitive columns') }}{%- endmacro -%}


{#- Refuses a load, before it writes, whose secret is not the one that the loads so far were hashed
    with under its name.
    Arguments: run (entity, manifest that the load builds on, load: its plan, if known). Returns
    what the load's record says of it, {id: proof (see _secret_proof())}; an empty dictionary where
    nothing is sensitive. -#}
{%- macro _check_secret(run) -%}
    {%- set entity, secret = run.entity, spark_cdc._secret_of(run.entity.sensitive) -%}
    {%- if secret is none -%}{{ return({}) }}{%- endif -%}
    {%- if spark_cdc._secret_is_missing(secret) -%}
        {%- set message = spark_cdc._missing_secret_text(entity.name, entity.sensitive) ~ ' Nothing was written.' -%}
        {%- do spark_cdc._refuse_load(entity, 'secret', message, run.get('load')) -%}
    {%- endif -%}
    {%- set id, is_there = spark_cdc._secret_id(secret), spark_cdc._known(secret) is not none -%}
    {%- set proof = spark_cdc._secret_proof(secret) if is_there else none -%}
    {%- if proof is none or proof != (run.manifest.get('secrets') or {}).get(id, proof) -%}
        {%- set message -%}
{{ entity.name }}: the secret {{ id }} is not the one that the loads so far were hashed with: {{ secret }} {# -#}
{{ 'is gone' if not is_there else 'holds no key' if proof is none else 'was exchanged' }}. Every row would be taken for another one. Nothing was written. Put the table back as {# -#}
it was; or make a new secret, with which the hashes are computed anew once:
  spark-cdc secrets rotate
        {%- endset -%}
        {%- do spark_cdc._refuse_load(entity, 'secret', message, run.get('load')) -%}
    {%- endif -%}
    {%- if entity.keyless and spark_cdc._erased(entity) is not none -%}
        {%- set message -%}
{{ entity.name }}: keys were erased ({{ spark_cdc._erased_list(entity) }} has the list), which can't be known again in rows that are told apart by all {# -#}
columns (keyless): they would come back. Nothing was written. Put the key back.
        {%- endset -%}
        {%- do spark_cdc._refuse_load(entity, 'secret', message, run.get('load')) -%}
    {%- endif -%}
    {%- if run.manifest.get('erased') and spark_cdc._erased(entity) is none -%}
        {%- set message -%}
{{ entity.name }}: keys were erased after this run had looked at the schema, so that it does not know {{ spark_cdc._erased_list(entity) }}, the list of them. Nothing was {# -#}
written. Run the same command again; if it comes again, the list is gone: put it back.
        {%- endset -%}
        {%- do spark_cdc._refuse_load(entity, 'secret', message, run.get('load')) -%}
    {%- endif -%}
    {{ return({id: proof}) }}
{%- endmacro -%}


{#- What a secret makes of a fixed text, by which it is known again: null where its table holds
    none. That Spark can read it shows, too. -#}
{%- macro _secret_proof(secret) -%}
    {{ return(spark_cdc._query('select ' ~ spark_cdc._hex(spark_cdc._hash_digest("'spark_cdc secret'", secret)) ~ ' as proof')[0].proof) }}
{%- endmacro -%}
