{#- Where the columns, types or roles of an entity are not those of the load that this one builds on: works out what becomes of the rows
    before, and checks that they fit, before anything is written. What can't be applied, or isn't explained by the YAML, is refused.
    Arguments: entity, load (of _plan_load(); gets its new `layout`, and `definition_change`: what is different, in words), ledger (relation),
    keep (loads that count), with_values (whether the values of the rows are looked at). Returns none if nothing has changed, or the rows
    of the ledger under the new definition, as a query between brackets. -#}
{%- macro _check_definition(entity, load, ledger, keep, with_values=true) -%}
    {%- if not load.redefines -%}{{ return(none) }}{%- endif -%}
    {%- set record = spark_cdc._query(
        'select note from ' ~ ledger ~ " where load_id = '" ~ load.parent ~ "' and operation = 'L'"
    ) -%}
    {%- if not record -%}
        {%- do spark_cdc._refuse_definition(entity, ['the record of ' ~ load.parent ~ ', which says what its columns were, is missing in ' ~ ledger], load) -%}
    {%- endif -%}
    {%- set diff = spark_cdc._definition_diff(entity, fromjson(record[0].note).definition) -%}
    {%- if diff.problems -%}
        {%- do spark_cdc._refuse_definition(entity, diff.problems, load) -%}
    {%- elif not diff.changes -%}  {#- types or names are only written in another way -#}
        {{ return(none) }}
    {%- endif -%}
    {%- if with_values and spark_cdc._is_load_command() -%}
        {%- do spark_cdc._check_defaults(entity, diff, load) -%}
        {%- do spark_cdc._check_values(entity, ledger, load, diff, keep) -%}
        {%- if diff.key == 'other' -%}
            {%- do spark_cdc._check_keys(entity, ledger, load, diff, keep) -%}
        {%- endif -%}
    {%- endif -%}
    {%- set prior = spark_cdc._restated_ledger(entity, ledger, load.layout, diff) -%}
    {%- do load.update({
        'layout': spark_cdc._layout(diff, load.layout, spark_cdc._columns_found(entity, ledger), load.load_id.split('-')[0]),
        'definition_change': diff.changes | join('; '),
    }) -%}
    {#- this session has read the ledger, and Spark would go on with the columns that it saw then; another one may add some now -#}
    {%- do run_query('refresh table ' ~ ledger) -%}
    {{ return(prior) }}
{%- endmacro -%}


{#- Types of the ledger's columns by name; and of the events' table, which holds the stored columns under the same names. -#}
{%- macro _columns_found(entity, ledger) -%}
    {%- set found = {} -%}
    {%- for relation in [load_relation(spark_cdc._sibling(entity.name ~ '_events')) if entity.events else none, ledger] if relation is not none -%}
        {%- for column in adapter.get_columns_in_relation(relation) -%}
            {%- do found.update({column.name | lower: spark_cdc._plain_type(column.dtype)}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- Each default must be a value of its column's type. -#}
{%- macro _check_defaults(entity, diff, load) -%}
    {%- set problems = [] -%}
    {%- for item in diff.columns if item.default is not none -%}
        {%- if spark_cdc._query('select ' ~ item.default ~ ' is null as is_null')[0].is_null -%}
            {%- do problems.append("column '" ~ item.column.name ~ "': its default '" ~ item.column.default ~ "' is no " ~ item.column.data_type
                ~ ': correct one of them') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if problems -%}{%- do spark_cdc._refuse_definition(entity, problems, load) -%}{%- endif -%}
{%- endmacro -%}


{#- Every value that people can see has to fit its column's new type, unless the column says that it may be lost. -#}
{%- macro _check_values(entity, ledger, load, diff, keep) -%}
    {%- set before = load.layout -%}
    {%- set changed = [] -%}
    {%- set counts = [] -%}
    {%- for item in diff.columns if item.conversion is not none and item.conversion.misfit != 'false' and item.column.on_misfit != 'null' -%}
        {%- set former = spark_cdc._place_sql(spark_cdc._place(before, item.former)) -%}
        {%- set misfit = item.conversion.misfit | replace('raw__value', former) -%}
        {%- set count = 'misfits_' ~ (changed | length + 1) -%}
        {%- do changed.append({'item': item, 'former': former, 'misfit': misfit, 'count': count}) -%}
        {%- do counts.append('count_if(' ~ misfit ~ ') as ' ~ count) -%}
    {%- endfor -%}
    {%- if not changed -%}{{ return('') }}{%- endif -%}
    {%- set rows = '\nfrom ' ~ ledger ~ '\nwhere ' ~ spark_cdc._in_loads(keep) ~ ' and operation in ' ~ spark_cdc._operations('visible') -%}
    {%- set found = spark_cdc._query('select\n    ' ~ counts | join(',\n    ') ~ rows)[0] -%}
    {%- set problems = [] -%}
    {%- for change in changed if found[change.count] -%}
        {%- set text = 'to_json(' ~ change.former ~ ')' if modules.re.match('array|map|struct', change.item.former.type) else 'cast(' ~ change.former ~ ' as string)' -%}
        {%- set examples = spark_cdc._query('select distinct left(' ~ text ~ ', 60) as example' ~ rows ~ ' and ' ~ change.misfit ~ '\nlimit 5') -%}
        {%- do problems.append("column '" ~ change.item.column.name ~ "' was " ~ change.item.former.type ~ ' and is ' ~ change.item.column.data_type
            ~ ', but ' ~ found[change.count] ~ (' stored value does' if found[change.count] == 1 else ' stored values do') ~ " not fit, such as '" ~ examples | map(attribute='example') | join("', '")
            ~ "'. Take a type that holds them; or give the column `on_misfit: \"null\"` under its meta, and they read as null (the ledger keeps "
            ~ 'them); or declare a column of another name, and name this one as dropped') -%}
    {%- endfor -%}
    {%- if problems -%}{%- do spark_cdc._refuse_definition(entity, problems, load) -%}{%- endif -%}
{%- endmacro -%}


{#- Under another key the rows of one key must stay together and apart from all others, in the whole history: else versions would be torn or
    mixed up. -#}
{%- macro _check_keys(entity, ledger, load, diff, keep) -%}
    {%- set before = load.layout -%}
    {%- set now = [] -%}
    {%- set former = [] -%}
    {%- for item in diff.columns -%}
        {%- if item.column.role == 'key' -%}{%- do now.append({'name': item.column.name, 'sql': spark_cdc._former_sql(item, before)}) -%}{%- endif -%}
        {%- if item.former is not none and item.former.role == 'key' -%}{%- do former.append(item.former) -%}{%- endif -%}
    {%- endfor -%}
    {%- do former.extend(diff.dropped | selectattr('role', 'equalto', 'key')) -%}
    {%- set new_key = 'to_json(named_struct(' ~ spark_cdc._named_sql(now) ~ '))' -%}
    {%- set old_columns = [] -%}
    {%- for column in former -%}{%- do old_columns.append({'name': column.name, 'sql': spark_cdc._place_sql(spark_cdc._place(before, column))}) -%}{%- endfor -%}
    {%- set old_key = 'to_json(named_struct(' ~ spark_cdc._named_sql(old_columns) ~ '))' -%}
    {%- set nulls = [] -%}
    {%- for column in now -%}{%- do nulls.append(column.sql ~ ' is null') -%}{%- endfor -%}
    {%- set keys = 'select distinct ' ~ old_key ~ ' as old_key, ' ~ new_key ~ ' as new_key, ' ~ nulls | join(' or ') ~ ' as is_null\nfrom '
            ~ ledger ~ '\nwhere ' ~ spark_cdc._in_loads(keep) ~ ' and operation in ' ~ spark_cdc._operations('visible') -%}
    {%- set problems = [] -%}
    {%- for what, sql in [
        ('former keys with a null in the new key', 'select old_key as example from (' ~ keys ~ ') as pairs where is_null'),
        ('new keys that would stand for several former ones', 'select new_key as example from (' ~ keys ~ ') as pairs group by new_key having count(*) > 1'),
        ('former keys that would fall apart into several new ones', 'select old_key as example from (' ~ keys ~ ') as pairs group by old_key having count(*) > 1'),
    ] -%}
        {%- set examples = spark_cdc._query('select example, count(*) over () as key_count from (' ~ sql ~ ') as examples limit 5') -%}
        {%- if examples -%}
            {%- do problems.append(what ~ ' in the loads so far: ' ~ examples[0].key_count ~ ', such as ' ~ examples | map(attribute='example') | join(', ')
                ~ '. Take a key that identifies the same rows one by one, or put the former one back') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if problems -%}{%- do spark_cdc._refuse_definition(entity, problems, load) -%}{%- endif -%}
{%- endmacro -%}


{%- macro _named_sql(columns) -%}
    {%- set parts = [] -%}
    {%- for column in columns -%}{%- do parts.append(spark_cdc._literal(column.name) ~ ', ' ~ column.sql) -%}{%- endfor -%}
    {{ return(parts | join(', ')) }}
{%- endmacro -%}


{%- macro _refuse_definition(entity, problems, load=none) -%}
    {%- do spark_cdc._refuse_load(
        entity, 'definition',
        entity.name ~ ': its columns are not those of the loads before, and the change can not be applied:\n  - ' ~ problems | join('.\n  - ')
        ~ '.\nNothing was written. What can be changed, and how, is in docs/schema_change.md. To give up the loads so far, start the ledger anew '
        ~ "with dbt run --full-refresh --vars '{business_date: " ~ var('business_date') ~ ', spark_cdc_wipe: [' ~ entity.name ~ "]}'.", load
    ) -%}
{%- endmacro -%}
