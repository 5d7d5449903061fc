{#- What the hashes of an entity are computed of, as a dictionary from column to role and type, what
    orders its events, and how sensitive columns are masked: if it changes, what is stored can't be
    compared with what comes in. -#}
{%- macro _definition(entity) -%}
    {%- set columns = {'hash specification': spark_cdc._hash_specification(entity)} -%}
    {%- for column in entity.stored -%}
        {%- do columns.update({column.name: column.role ~ ' ' ~ column.data_type}) -%}
    {%- endfor -%}
    {%- if entity.events -%}
        {%- set events = entity.events.get('declared') or entity.events -%}
        {%- set order = (events.order + events.tie_breaker) | map(attribute='name') | join(', ') -%}
        {%- do columns.update({'order of events': events.format ~ ' ' ~ order}) -%}
    {%- endif -%}
    {%- if entity.sensitive -%}
        {%- set masks = {} -%}
        {%- for column in entity.sensitive -%}{%- do masks.update({column.name: column.mask}) -%}{%- endfor -%}
        {%- do columns.update({'masks': tojson(masks, sort_keys=true)}) -%}
    {%- endif -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- What has changed between two definitions of an entity, as far as the YAML explains it. Nothing
    is read from the catalogue.
    Arguments: entity (as it is declared now), before (definition of the loads so far, as of
    _definition()).
    Returns a dictionary: columns (of _column_diff() and _new_column_diff()), dropped (a list of
    former columns), changes (texts: what is different, in words), key (`same`, `rehashed`: the same
    values under another name or hash specification, or `other`), problems (texts: what is not
    accepted, and what to do). -#}
{%- macro _definition_diff(entity, before) -%}
    {%- set now = spark_cdc._definition(entity) -%}
    {%- set hash, order = 'hash specification', 'order of events' -%}
    {%- set masks = fromjson(before.get('masks') or '{}') -%}
    {%- set old = {} -%}
    {%- for name, what in before.items() if name not in [hash, order, 'masks'] -%}
        {%- set role, type = what.split(' ', 1) -%}
        {%- do old.update({name | lower: {'name': name, 'role': role, 'type': type, 'mask': masks.get(name)}}) -%}
    {%- endfor -%}

    {%- set declared = entity.columns | map(attribute='name') | map('lower') | list -%}
    {%- set columns = [] -%}
    {%- for column in entity.stored -%}
        {#- it was the column of its name, or else one that it names as `renamed_from` and that is
            declared no more -#}
        {%- set names = [column.name | lower] + column.renamed_from | map('lower') | reject('in', declared) | list -%}
        {%- set found = names | select('in', old) | list -%}
        {%- do columns.append(spark_cdc._column_diff(entity, column, old[found[0]]) if found else spark_cdc._new_column_diff(entity, column)) -%}
    {%- endfor -%}
    {%- set matched = columns | selectattr('former') | map(attribute='former.name') | map('lower') | list -%}
    {%- set dropped = [] -%}
    {%- for name, former in old.items() if name not in matched -%}
        {#- one that is gone by oversight must not be taken for one that is not wanted any more -#}
        {%- do dropped.append({
            'former': former,
            'changes': ['dropped ' ~ former.name],
            'key': 'other' if former.role in spark_cdc._telling_roles(entity) else 'same',
            'problem': (spark_cdc._failed_rules(former, [
                (name not in entity.dropped_columns + declared,
                 "column '%(name)s' (%(role)s %(type)s) is gone. If it has another name now, say so under meta of that column (renamed_from: %(name)s); if it is not wanted "
                 'any more, name it under meta.spark_cdc (dropped_columns: [%(name)s]), where its old values stay readable in the ledger; else put it back'),
            ]) + [none]) | first,
        }) -%}
    {%- endfor -%}

    {%- set is_rehashed = before.get(hash) and before[hash] != now[hash] -%}
    {%- set of_key = [spark_cdc._hash_specification_of_key(before.get(hash) or now[hash]), spark_cdc._hash_specification_of_key(now[hash])] -%}
    {%- set keys = (columns + dropped) | map(attribute='key') | list -%}
    {%- set key = 'other' if 'other' in keys else 'rehashed' if 'rehashed' in keys or of_key[0] != of_key[1] else 'same' -%}
    {#- archived events name their rows by these, of which only a hash is stored where the row
        itself is not there -#}
    {%- set unique = (entity.events or {}).get('unique_keys', []) | sum(start=[]) | map(attribute='name') | list -%}
    {%- set moved = [] -%}
    {%- for item in columns if item.column.name in unique and (item.former is none or item.former.name | lower != item.column.name | lower
            or not spark_cdc._is_hashed_alike(item.former.type, item.column.data_type)) -%}
        {%- do moved.append(item.column.name) -%}
    {%- endfor -%}
    {%- set moved = moved | join(', ') -%}
    {%- set values = {
        'name': entity.name, 'order': now.get(order) or 'nothing', 'former_order': before.get(order) or 'nothing',
        'what': moved ~ ' of events.unique_keys is another column now' if moved else 'the key changes',
    } -%}
    {{ return({
        'columns': columns,
        'dropped': dropped | map(attribute='former') | list,
        'changes': (columns + dropped) | map(attribute='changes') | sum(start=[])
            + ([hash ~ ' ' ~ before[hash] ~ ' to ' ~ now[hash]] if is_rehashed else []),
        'key': key,
        'problems': (columns + dropped) | map(attribute='problem') | select | list + spark_cdc._failed_rules(values, [
            (before.get(order) != now.get(order),
             'what orders the events is %(order)s and was %(former_order)s: positions of one order can not be compared with those of another. '
             'Put load_type, events.format, events.order and events.tie_breaker back'),
            (entity.events and entity.events.archive and (key == 'other' or moved),
             '%(what)s, but the archived events name their rows by the former one. Put it back; or set events.archive: false, and remove the '
             'models %(name)s_event_versions and %(name)s_bitemporal, if they are there'),
            (key != 'same' and 'secret' in of_key | join,
             'the key is sensitive, and its hash changes: readers of older loads could not follow it without the secret. Load everything anew with it, '
             'from the first load on: spark-cdc replay --from DATE --select %(name)s'),
        ]) + spark_cdc._rekey_problems(entity, old, key),
    }) }}
{%- endmacro -%}


{#- A column, and what it was.
    Returns a dictionary: column, former ({name, role, type, mask} in the definition before),
    conversion (of _conversion(), none where the type is the same), default (none), changes (texts),
    key and problem (text or none). -#}
{%- macro _column_diff(entity, column, former) -%}
    {%- set conversion = spark_cdc._conversion(entity, column, former.type) -%}
    {#- what others see of the loads so far stays as it is -#}
    {%- set problem = (conversion or {}).get('problem') or (spark_cdc._failed_rules({
        'now': 'is sensitive with mask: ' ~ column.mask if column.sensitive else 'is not sensitive', 'name': entity.name,
        'was': 'sensitive with mask: ' ~ former.mask if former.mask else 'not sensitive', 'type': column.data_type, 'former_type': former.type,
    }, [
        (former.mask != column.mask,
         'it %(now)s, and was %(was)s in the loads so far, whose rows would stay as they are. '
         'Put it back; or load all of them anew (docs/sensitive.md): spark-cdc replay --from DATE --select %(name)s --publish, where DATE is the first one, '
         'then spark-cdc vacuum --select %(name)s --retention 0 --force'),
        (column.sensitive and conversion is not none,
         'it is sensitive and has another type, %(type)s instead of %(former_type)s, which is not supported yet: put the type back, or replay from the '
         'first date'),
    ]) + [none]) | first -%}
    {%- set is_renamed = column.name | lower != former.name | lower -%}
    {%- set telling = spark_cdc._telling_roles(entity) -%}
    {%- set is_rekeyed = (column.role in telling) != (former.role in telling) or (column.role in telling and conversion is not none and not problem
        and not spark_cdc._is_hashed_alike(former.type, column.data_type)) -%}
    {{ return({
        'column': column,
        'former': former,
        'conversion': conversion,
        'default': none,
        'changes': (['renamed ' ~ former.name ~ ' to ' ~ column.name] if is_renamed else [])
            + ([column.name ~ ' ' ~ former.role ~ ' to ' ~ column.role] if column.role != former.role else [])
            + ([column.name ~ ' ' ~ former.type ~ ' to ' ~ column.data_type] if conversion is not none else []),
        'key': 'other' if is_rekeyed or (entity.keyless and is_renamed and column.role in telling)
            else 'rehashed' if column.role == 'key' and is_renamed else 'same',
        'problem': "column '" ~ column.name ~ "': " ~ problem if problem else none,
    }) }}
{%- endmacro -%}


{#- The same of a column that was not there: former and conversion are none, default is an
    expression of the column's type, or none. -#}
{%- macro _new_column_diff(entity, column) -%}
    {%- set default = none -%}
    {%- if column.default is not none -%}
        {%- set text = spark_cdc._literal(column.default | string | lower if column.default is boolean else column.default) -%}
        {%- set is_instant = spark_cdc._plain_type(column.data_type) == 'timestamp' -%}
        {%- set default = spark_cdc._cast_instant(text, none, entity.timezone) if is_instant
            else 'try_cast(' ~ text ~ ' as ' ~ column.data_type ~ ')' -%}
    {%- endif -%}
    {%- set problem -%}
column '{{ column.name }}' is new and not nullable, but the rows loaded so far have no value for it. Give one as `default` under its meta, {# -#}
make it nullable, or name the column that it was as `renamed_from`
    {%- endset -%}
    {{ return({
        'column': column,
        'former': none,
        'conversion': none,
        'default': default,
        'changes': ['added ' ~ column.name ~ ' ' ~ column.role ~ ' ' ~ column.data_type ~ (' default ' ~ column.default if default else '')],
        'key': 'other' if column.role == 'key' or (entity.keyless and default and column.role == 'compared') else 'same',
        'problem': none if column.nullable or default else problem,
    }) }}
{%- endmacro -%}


{#- The roles of the columns that tell rows apart. -#}
{%- macro _telling_roles(entity) -%}{{ return(['compared'] if entity.keyless else ['key']) }}{%- endmacro -%}


{#- What is wrong with a change of what tells rows apart. Rows without a key keep the hashes that
    they have, since their numbers among equals can't be told anew of old loads: if the change is
    ordered, each row whose hash is another one is deleted and inserted. Null makes no hash, so a
    new column without a default changes none. Arguments: entity, old (columns of the definition
    before, by name), key (of _definition_diff()). -#}
{%- macro _rekey_problems(entity, old, key) -%}
    {%- set was_keyless = not entity.events and old != {} and old.values() | selectattr('role', 'equalto', 'key') | list == [] -%}
    {%- set is_ordered = entity.name in spark_cdc._listed('spark_cdc_rekey') -%}
    {{ return(spark_cdc._failed_rules({
        'name': entity.name, 'was': 'all columns' if was_keyless else 'a key', 'now': 'all columns (keyless)' if entity.keyless else 'a key',
    }, [
        (was_keyless != entity.keyless,
         'rows were told apart by %(was)s in the loads so far, and are by %(now)s now, so that no row could be followed from one to the other. Put it back; or '
         'load everything anew, from the first date on: spark-cdc replay --from DATE --select %(name)s'),
        (key == 'other' and not is_ordered and not was_keyless and not entity.keyless,
         'the key changes, and with it what counts as one row. If that is meant, order it with the var spark_cdc_rekey: [%(name)s]; else put '
         'the columns with the role key back'),
        (key != 'same' and not is_ordered and was_keyless and entity.keyless,
         'the entity is keyless, and what tells its rows apart changes: each row that is hashed otherwise would be deleted and inserted. If that is meant, '
         'order it with the var spark_cdc_rekey: [%(name)s]; else put the columns back. Columns that are new and have no default need no order'),
    ])) }}
{%- endmacro -%}


{#- A definition (of _definition()) in 32 characters, and behind them, where hashes are keyed, a
    blank and the secret's id. -#}
{%- macro _fingerprint(definition) -%}
    {%- set hash = 'hash specification' -%}
    {%- set version, _, secret = (definition.get(hash) or '').partition(' with secret ') -%}
    {%- set columns = dict(definition, **{hash: version}) if secret else definition -%}
    {{ return((local_md5(tojson(columns, sort_keys=true)) ~ ' ' ~ secret) | trim) }}
{%- endmacro -%}


{#- The version of an entity's hashes and, where columns are sensitive, which of the hashes are
    keyed (by the role of their columns; the key's also where events are told apart by their place,
    or are archived and may name their row by a sensitive unique key) and with which secret:
    `version 2 of compared, key with secret 20240301T101500_0a935ca6`. -#}
{%- macro _hash_specification(entity) -%}
    {%- set secret = spark_cdc._secret_of(entity.sensitive) -%}
    {%- if secret is none -%}{{ return('version 1') }}{%- endif -%}
    {%- set events = entity.events or {} -%}
    {%- set names_rows = not entity.key_columns or (events.get('archive')
        and spark_cdc._secret_of(events.unique_keys | sum(start=[])) is not none) -%}
    {%- set roles = entity.sensitive | map(attribute='role') | list + (['key'] if names_rows else []) -%}
    {{ return('version 2 of ' ~ roles | unique | sort | join(', ') ~ ' with secret ' ~ spark_cdc._secret_id(secret)) }}
{%- endmacro -%}


{#- The part of such a text that concerns the key's hash. -#}
{%- macro _hash_specification_of_key(text) -%}
    {%- if not text.startswith('version 2 of ') -%}{{ return(text) }}{%- endif -%}
    {%- set roles, secret = text.removeprefix('version 2 of ').split(' with ', 1) -%}
    {{ return(secret if 'key' in roles.split(', ') else 'version 1') }}
{%- endmacro -%}


{#- Whether equal values of two types have one hash: see docs/hash.md. -#}
{%- macro _is_hashed_alike(one, other) -%}
    {%- set groups = {'decimal': 'integer', 'double': 'float'} -%}
    {%- set kinds = [spark_cdc._hash_type(one).kind, spark_cdc._hash_type(other).kind] -%}
    {{ return(groups.get(kinds[0], kinds[0]) == groups.get(kinds[1], kinds[1])) }}
{%- endmacro -%}
