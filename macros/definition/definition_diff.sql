{#- What has changed between two definitions of an entity, as far as the YAML explains it. Nothing is read from the catalogue.
    Arguments: entity (as it is declared now), before (definition of the loads so far, as of _definition()).
    Returns a dictionary: columns (a list of {column, former, conversion, default}: former is {name, role, type} in the definition before,
    or none where the column is new; conversion of _conversion(), or none where the type is the same; default is the expression of a new
    column's default, or none), dropped (a list of former columns), changes
    (texts: what is different, in words), key (`same`, `rehashed`: the same values under another name or hash specification, or `other`),
    problems (texts: what is not accepted, and what to do). -#}
{%- macro _definition_diff(entity, before) -%}
    {%- set old = spark_cdc._columns_of_definition(before) -%}
    {%- set now = spark_cdc._definition(entity) -%}
    {%- set diff = {'columns': [], 'dropped': [], 'changes': [], 'problems': [], 'key': 'same'} -%}
    {%- set declared = entity.columns | map(attribute='name') | map('lower') | list -%}
    {%- set matched = [] -%}
    {%- for column in entity.stored -%}
        {%- set former = spark_cdc._former_column(column, old, declared) -%}
        {%- set item = {'column': column, 'former': former, 'conversion': none, 'default': none} -%}
        {%- if former is none -%}
            {%- do spark_cdc._compare_new_column(entity, item, diff) -%}
        {%- else -%}
            {%- do matched.append(former.name | lower) -%}
            {%- do spark_cdc._compare_column(entity, item, diff) -%}
        {%- endif -%}
        {%- do diff.columns.append(item) -%}
    {%- endfor -%}
    {%- for name, former in old.items() if name not in matched -%}
        {%- do spark_cdc._compare_gone_column(entity, former, name in declared, diff) -%}
    {%- endfor -%}
    {%- for name in ['hash specification', 'order of events'] if before.get(name) != now.get(name) -%}
        {%- if name == 'hash specification' and before.get(name) -%}
            {%- do diff.changes.append('hash specification ' ~ before[name] ~ ' to ' ~ now[name]) -%}
            {%- do diff.update({'key': 'other' if diff.key == 'other' else 'rehashed'}) -%}
        {%- elif name == 'order of events' -%}
            {%- do diff.problems.append("what orders the events is " ~ (now.get(name) or 'nothing') ~ " and was " ~ (before.get(name) or 'nothing')
                ~ ": positions of one order can not be compared with those of another. Put load_type, events.format, events.order and "
                ~ "events.tie_breaker back") -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if entity.events and entity.events.archive -%}
        {%- do spark_cdc._compare_archived_names(entity, diff) -%}
    {%- endif -%}
    {%- if diff.key == 'other' and entity.name not in spark_cdc._listed('spark_cdc_rekey') -%}
        {%- do diff.problems.append("the key changes, and with it what counts as one row. If that is meant, order it with the var "
            ~ "spark_cdc_rekey: [" ~ entity.name ~ "]; else put the columns with the role key back") -%}
    {%- endif -%}
    {{ return(diff) }}
{%- endmacro -%}


{#- The columns in a definition, by name in lower case. -#}
{%- macro _columns_of_definition(definition) -%}
    {%- set columns = {} -%}
    {%- for name, what in definition.items() if name not in ['hash specification', 'order of events'] -%}
        {%- set words = what.split(' ', 1) -%}
        {%- do columns.update({name | lower: {'name': name, 'role': words[0], 'type': words[1]}}) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- What a column was before: the one of its name, or else one that it names as `was` and that is declared no more. -#}
{%- macro _former_column(column, old, declared) -%}
    {%- if column.name | lower in old -%}{{ return(old[column.name | lower]) }}{%- endif -%}
    {%- for name in column.was if name | lower in old and name | lower not in declared -%}
        {{ return(old[name | lower]) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{%- macro _compare_new_column(entity, item, diff) -%}
    {%- set column = item.column -%}
    {%- if column.default is not none -%}
        {%- do item.update({'default': spark_cdc._default_sql(entity, column)}) -%}
    {%- endif -%}
    {%- do diff.changes.append('added ' ~ column.name ~ ' ' ~ column.role ~ ' ' ~ column.data_type
        ~ (' default ' ~ column.default if column.default is not none else '')) -%}
    {%- if column.role == 'key' -%}
        {%- do diff.update({'key': 'other'}) -%}
    {%- endif -%}
    {%- if not column.nullable and column.default is none -%}
        {%- do diff.problems.append("column '" ~ column.name ~ "' is new and not nullable, but the rows loaded so far have no value for it. "
            ~ "Give one as `default` under its meta, make it nullable, or name the column that it was as `was`") -%}
    {%- endif -%}
{%- endmacro -%}


{%- macro _compare_column(entity, item, diff) -%}
    {%- set column = item.column -%}
    {%- set former = item.former -%}
    {%- if column.name | lower != former.name | lower -%}
        {%- do diff.changes.append('renamed ' ~ former.name ~ ' to ' ~ column.name) -%}
        {%- if column.role == 'key' and diff.key == 'same' -%}{%- do diff.update({'key': 'rehashed'}) -%}{%- endif -%}
    {%- endif -%}
    {%- if column.role != former.role -%}
        {%- do diff.changes.append(column.name ~ ' ' ~ former.role ~ ' to ' ~ column.role) -%}
        {%- if 'key' in [column.role, former.role] -%}{%- do diff.update({'key': 'other'}) -%}{%- endif -%}
    {%- endif -%}
    {%- set conversion = spark_cdc._conversion(entity, column, former.type) -%}
    {%- if conversion is not none -%}
        {%- do diff.changes.append(column.name ~ ' ' ~ former.type ~ ' to ' ~ column.data_type) -%}
        {%- do item.update({'conversion': conversion}) -%}
        {%- if conversion.problem -%}
            {%- do diff.problems.append("column '" ~ column.name ~ "': " ~ conversion.problem) -%}
        {%- elif column.role == 'key' and not spark_cdc._is_hashed_alike(former.type, column.data_type) -%}
            {%- do diff.update({'key': 'other'}) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro -%}


{#- A column that is gone by oversight must not be taken for one that is not wanted any more. -#}
{%- macro _compare_gone_column(entity, former, is_control, diff) -%}
    {%- if former.name | lower not in entity.dropped and not is_control -%}
        {%- do diff.problems.append("column '" ~ former.name ~ "' (" ~ former.role ~ ' ' ~ former.type ~ ") is gone. If it has another name now, "
            ~ "say so under meta of that column (was: " ~ former.name ~ "); if it is not wanted any more, name it under meta.spark_cdc "
            ~ "(dropped: [" ~ former.name ~ "]), where its old values stay readable in the ledger; else put it back") -%}
    {%- endif -%}
    {%- do diff.changes.append('dropped ' ~ former.name) -%}
    {%- do diff.dropped.append(former) -%}
    {%- if former.role == 'key' -%}{%- do diff.update({'key': 'other'}) -%}{%- endif -%}
{%- endmacro -%}


{#- Archived events name their rows by a key, or by another unique key, of which only a hash is stored where the row itself is not there. -#}
{%- macro _compare_archived_names(entity, diff) -%}
    {%- set unique = [] -%}
    {%- for names in entity.events.unique_keys -%}{%- do unique.extend(names | map(attribute='name')) -%}{%- endfor -%}
    {%- set moved = [] -%}
    {%- for item in diff.columns if item.column.name in unique and (item.former is none or item.former.name | lower != item.column.name | lower
            or not spark_cdc._is_hashed_alike(item.former.type, item.column.data_type)) -%}
        {%- do moved.append(item.column.name) -%}
    {%- endfor -%}
    {%- if diff.key == 'other' or moved -%}
        {%- do diff.problems.append((moved | join(', ') ~ ' of events.unique_keys is another column now' if moved else 'the key changes')
            ~ ", but the archived events name their rows by the former one. Put it back; or set events.archive: false, and remove the model "
            ~ entity.name ~ "_event_versions") -%}
    {%- endif -%}
{%- endmacro -%}
