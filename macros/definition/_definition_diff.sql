{#- What has changed between two definitions of an entity, as far as the YAML explains it. Nothing is read from the catalogue.
    Arguments: entity (as it is declared now), before (definition of the loads so far, as of _definition()).
    Returns a dictionary: columns (a list of {column, former, conversion, default}: former is {name, role, type} in the definition before,
    or none where the column is new; conversion of _conversion(), or none where the type is the same; default is the expression of a new
    column's default, or none), dropped (a list of former columns), changes
    (texts: what is different, in words), key (`same`, `rehashed`: the same values under another name or hash specification, or `other`),
    problems (texts: what is not accepted, and what to do). -#}
{%- macro _definition_diff(entity, before) -%}
    {%- set old = spark_cdc._columns_of_definition(before) -%}
    {%- set declared = entity.columns | map(attribute='name') | map('lower') | list -%}
    {%- set columns = [] -%}
    {%- set matched = [] -%}
    {%- for column in entity.stored -%}
        {%- set former = spark_cdc._former_column(column, old, declared) -%}
        {%- if former is not none -%}{%- do matched.append(former.name | lower) -%}{%- endif -%}
        {%- do columns.append(spark_cdc._new_column_diff(entity, column) if former is none else spark_cdc._column_diff(entity, column, former)) -%}
    {%- endfor -%}
    {%- set dropped = [] -%}
    {%- for name, former in old.items() if name not in matched -%}
        {%- do dropped.append(spark_cdc._dropped_column_diff(former, name in entity.dropped or name in declared)) -%}
    {%- endfor -%}
    {%- set parts = columns + dropped + [spark_cdc._hash_diff(before, spark_cdc._definition(entity)), spark_cdc._order_diff(before, spark_cdc._definition(entity))] -%}
    {%- set keys = parts | map(attribute='key') | list -%}
    {%- set key = 'other' if 'other' in keys else 'rehashed' if 'rehashed' in keys else 'same' -%}
    {%- set problems = parts | map(attribute='problem') | select | list -%}
    {{ return({
        'columns': columns,
        'dropped': dropped | map(attribute='former') | list,
        'changes': parts | map(attribute='changes') | sum(start=[]),
        'key': key,
        'problems': problems + spark_cdc._archive_problems(entity, columns, key) + spark_cdc._rekey_needed(entity, key),
    }) }}
{%- endmacro -%}


{#- The columns in a definition, by name in lower case. -#}
{%- macro _columns_of_definition(definition) -%}
    {%- set columns = {} -%}
    {%- for name, what in definition.items() if name not in ['hash specification', 'order of events'] -%}
        {%- set role, type = what.split(' ', 1) -%}
        {%- do columns.update({name | lower: {'name': name, 'role': role, 'type': type}}) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- What a column was before: the one of its name, or else one that it names as `was` and that is declared no more. -#}
{%- macro _former_column(column, old, declared) -%}
    {%- for name in [column.name] + column.was if name | lower in old and (name == column.name or name | lower not in declared) -%}
        {{ return(old[name | lower]) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{%- macro _new_column_diff(entity, column) -%}
    {%- set problem -%}
column '{{ column.name }}' is new and not nullable, but the rows loaded so far have no value for it. Give one as `default` under its meta, {# -#}
make it nullable, or name the column that it was as `was`
    {%- endset -%}
    {%- set has_default = column.default is not none -%}
    {{ return({
        'column': column,
        'former': none,
        'conversion': none,
        'default': spark_cdc._default_sql(entity, column) if has_default else none,
        'changes': ['added ' ~ column.name ~ ' ' ~ column.role ~ ' ' ~ column.data_type ~ (' default ' ~ column.default if has_default else '')],
        'key': 'other' if column.role == 'key' else 'same',
        'problem': none if column.nullable or has_default else problem,
    }) }}
{%- endmacro -%}


{%- macro _column_diff(entity, column, former) -%}
    {%- set conversion = spark_cdc._conversion(entity, column, former.type) -%}
    {%- set is_renamed = column.name | lower != former.name | lower -%}
    {%- set changes = [] -%}
    {%- if is_renamed -%}{%- do changes.append('renamed ' ~ former.name ~ ' to ' ~ column.name) -%}{%- endif -%}
    {%- if column.role != former.role -%}{%- do changes.append(column.name ~ ' ' ~ former.role ~ ' to ' ~ column.role) -%}{%- endif -%}
    {%- if conversion is not none -%}{%- do changes.append(column.name ~ ' ' ~ former.type ~ ' to ' ~ column.data_type) -%}{%- endif -%}
    {%- set problem = (conversion or {}).get('problem') -%}
    {%- if column.role != former.role and 'key' in [column.role, former.role] -%}
        {%- set key = 'other' -%}
    {%- elif column.role != 'key' -%}
        {%- set key = 'same' -%}
    {%- elif conversion is not none and not problem and not spark_cdc._is_hashed_alike(former.type, column.data_type) -%}
        {%- set key = 'other' -%}
    {%- else -%}
        {%- set key = 'rehashed' if is_renamed else 'same' -%}
    {%- endif -%}
    {{ return({
        'column': column,
        'former': former,
        'conversion': conversion,
        'default': none,
        'changes': changes,
        'key': key,
        'problem': "column '" ~ column.name ~ "': " ~ problem if problem else none,
    }) }}
{%- endmacro -%}


{#- A column that is gone by oversight must not be taken for one that is not wanted any more. -#}
{%- macro _dropped_column_diff(former, is_meant) -%}
    {%- set problem -%}
column '{{ former.name }}' ({{ former.role }} {{ former.type }}) is gone. If it has another name now, say so under meta of that column {# -#}
(was: {{ former.name }}); if it is not wanted any more, name it under meta.spark_cdc (dropped: [{{ former.name }}]), where its old values {# -#}
stay readable in the ledger; else put it back
    {%- endset -%}
    {{ return({
        'former': former,
        'changes': ['dropped ' ~ former.name],
        'key': 'other' if former.role == 'key' else 'same',
        'problem': none if is_meant else problem,
    }) }}
{%- endmacro -%}


{%- macro _hash_diff(before, now) -%}
    {%- set name = 'hash specification' -%}
    {%- if not before.get(name) or before[name] == now[name] -%}
        {{ return({'changes': [], 'key': 'same', 'problem': none}) }}
    {%- endif -%}
    {{ return({'changes': [name ~ ' ' ~ before[name] ~ ' to ' ~ now[name]], 'key': 'rehashed', 'problem': none}) }}
{%- endmacro -%}


{%- macro _order_diff(before, now) -%}
    {%- set name = 'order of events' -%}
    {%- set problem -%}
what orders the events is {{ now.get(name) or 'nothing' }} and was {{ before.get(name) or 'nothing' }}: positions of one order can not be {# -#}
compared with those of another. Put load_type, events.format, events.order and events.tie_breaker back
    {%- endset -%}
    {{ return({'changes': [], 'key': 'same', 'problem': none if before.get(name) == now.get(name) else problem}) }}
{%- endmacro -%}


{#- Archived events name their rows by a key, or by another unique key, of which only a hash is stored where the row itself is not there. -#}
{%- macro _archive_problems(entity, columns, key) -%}
    {%- if not entity.events or not entity.events.archive -%}{{ return([]) }}{%- endif -%}
    {%- set unique = entity.events.unique_keys | sum(start=[]) | map(attribute='name') | list -%}
    {%- set moved = [] -%}
    {%- for item in columns if item.column.name in unique and (item.former is none or item.former.name | lower != item.column.name | lower
            or not spark_cdc._is_hashed_alike(item.former.type, item.column.data_type)) -%}
        {%- do moved.append(item.column.name) -%}
    {%- endfor -%}
    {%- set problem -%}
{{ moved | join(', ') ~ ' of events.unique_keys is another column now' if moved else 'the key changes' }}, but the archived events name {# -#}
their rows by the former one. Put it back; or set events.archive: false, and remove the model {{ entity.name }}_event_versions
    {%- endset -%}
    {{ return([problem] if key == 'other' or moved else []) }}
{%- endmacro -%}


{%- macro _rekey_needed(entity, key) -%}
    {%- set problem -%}
the key changes, and with it what counts as one row. If that is meant, order it with the var spark_cdc_rekey: [{{ entity.name }}]; else put {# -#}
the columns with the role key back
    {%- endset -%}
    {{ return([problem] if key == 'other' and entity.name not in spark_cdc._listed('spark_cdc_rekey') else []) }}
{%- endmacro -%}
