{#- The columns of the ledger: the stored ones, hashes, eff_start_date, for events the position last
    applied, cdc__note, then the partition's; each with where it lies under a layout. -#}
{%- macro _ledger_columns(entity, layout={}) -%}
    {%- set columns = entity.stored | list -%}
    {%- for name, data_type in [('key_hash', 'binary'), ('nonkey_hash', 'binary'), ('untracked_hash', 'binary'),
                                ('eff_start_date', entity.eff_type), ('event_position', 'array<bigint>'), ('cdc__note', 'string'),
                                ('business_date', 'date'), ('load_id', 'string'), ('operation', 'string')]
            if (name != 'untracked_hash' or entity.untracked) and (name != 'event_position' or entity.events) -%}
        {%- do columns.append({'name': name, 'sql': name, 'data_type': data_type}) -%}
    {%- endfor -%}
    {{ return(spark_cdc._placed_columns(columns, layout)) }}
{%- endmacro -%}


{#- The columns of <entity>_events, in order, without its partition; each with where it lies under a
    layout. -#}
{%- macro _event_columns(entity, layout={}) -%}
    {%- set old_keys = spark_cdc._old_keys(entity) -%}
    {%- set columns = [] -%}
    {%- for name, data_type in [('event_op', 'string'), ('event_position', 'array<bigint>'), ('event_transaction', 'string'),
                                ('event_time', 'timestamp'), ('event_hash', 'bigint'), ('key_hash', 'binary')]
            + ([('old_key_hash', 'binary')] if old_keys else [])
            + ([('old_alternate_hash', 'binary'), ('alternate_hashes', 'array<binary>')] if entity.events.unique_keys else []) -%}
        {%- do columns.append({'name': name, 'data_type': data_type}) -%}
    {%- endfor -%}
    {%- do columns.extend(old_keys + entity.stored) -%}
    {%- for name in ['event_absent', 'event_unavailable', 'event_unexpected'] -%}
        {%- do columns.append({'name': name, 'data_type': 'array<string>'}) -%}
    {%- endfor -%}
    {%- do columns.append({'name': 'event_origin', 'data_type': spark_cdc._event_origin_type()}) if entity.events.origin -%}
    {%- do columns.append({'name': 'cdc__note', 'data_type': 'string'}) -%}
    {{ return(spark_cdc._placed_columns(columns, layout, former_keys=true)) }}
{%- endmacro -%}


{#- Those of them that say what happens to a row, which is all that views on archived events
    need. -#}
{%- macro _event_columns_of_rows(entity) -%}
    {{ return(spark_cdc._event_columns(entity) | rejectattr('name', 'equalto', 'event_origin') | list) }}
{%- endmacro -%}


{#- The value of a column in the rows of the loads so far, as an expression over the ledger's
    columns. -#}
{%- macro _former_sql(item, before) -%}
    {%- if item.former is none -%}
        {%- set filled = (before.get('filled') or {}).get(item.column.name | lower) -%}
        {%- set is_filled = filled and filled.type == item.column.data_type and not item.default -%}
        {{ return(spark_cdc._quote(filled.at) if is_filled else item.default or 'cast(null as ' ~ item.column.data_type ~ ')') }}
    {%- endif -%}
    {%- set former = spark_cdc._place_sql(spark_cdc._place(before, item.former)) -%}
    {{ return(item.conversion.sql | replace('cdc__raw_value', former) if item.conversion else former) }}
{%- endmacro -%}


{#- How stored values of one type become those of another. Text is read exactly as staging would
    read it, with the column's format and encoding; other types by a cast that is taken back to see
    whether anything was lost. In the expressions cdc__raw_value stands for the old value.
    Arguments: entity, column (as it is declared now), former_type. Returns none if the types are
    the same, or a dictionary: sql (expression of the new type), misfit (condition: the value can't
    be kept; never null), problem (why there is no such conversion, or none). -#}
{%- macro _conversion(entity, column, former_type) -%}
    {%- set type = spark_cdc._plain_type(column.data_type) -%}
    {%- set before = spark_cdc._plain_type(former_type) -%}
    {%- if type == before -%}{{ return(none) }}{%- endif -%}
    {%- set kind = spark_cdc._hash_type(type).get('kind') -%}
    {%- set from_kind = spark_cdc._hash_type(before).get('kind') -%}
    {%- set numbers = ['integer', 'decimal', 'float', 'double', 'boolean'] -%}
    {%- set is_nested = kind in ['array', 'map', 'struct'] and from_kind == kind -%}
    {%- set raw = 'cdc__raw_value' -%}
    {%- set misfit = 'false' -%}

    {%- if from_kind == 'string' -%}
        {%- set declared = dict(column, data_type=type, nullable=true) -%}
        {%- set sql = spark_cdc._cast(declared, raw, true, entity.timezone) -%}
        {%- set misfit = spark_cdc._reject_condition(declared, raw, '(' ~ sql ~ ')', true, entity) or misfit -%}
    {%- elif kind == 'string' and from_kind in numbers + ['date', 'timestamp_ntz'] -%}
        {%- set sql = 'cast(' ~ raw ~ ' as string)' -%}
    {%- elif kind in numbers and from_kind in numbers -%}
        {%- set sql = 'try_cast(' ~ raw ~ ' as ' ~ type ~ ')' -%}
        {%- set misfit = 'not try_cast(' ~ sql ~ ' as ' ~ before ~ ') <=> ' ~ raw -%}
    {%- elif is_nested and 'struct<' not in type ~ before -%}
        {%- set sql = 'try_cast(' ~ raw ~ ' as ' ~ type ~ ')' -%}
        {%- set misfit = 'not to_json(try_cast(' ~ sql ~ ' as ' ~ before ~ ')) <=> to_json(' ~ raw ~ ')' -%}
    {%- elif is_nested -%}  {#- a cast would take the fields of a struct by their order -#}
        {#- and JSON has their names in the case in which they were declared, and of times
            milliseconds only, unless it is told otherwise -#}
        {%- set pattern = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS" -%}
        {%- set exact = ", map('timestampFormat', " ~ spark_cdc._literal(pattern ~ 'XXX') ~ ", 'timestampNTZFormat', " ~ spark_cdc._literal(pattern) ~ '))' -%}
        {%- set folded = 'cast(' ~ raw ~ ' as ' ~ before ~ ')' -%}
        {%- set sql = 'from_json(to_json(' ~ folded ~ exact ~ ', ' ~ spark_cdc._literal(type) ~ exact -%}
        {%- set back = 'from_json(to_json(' ~ sql ~ exact ~ ', ' ~ spark_cdc._literal(before) ~ exact -%}
        {%- set misfit = 'not to_json(' ~ back ~ exact ~ ' <=> to_json(' ~ folded ~ exact -%}
    {%- elif kind == 'timestamp' and from_kind in ['date', 'timestamp_ntz'] -%}
        {%- set sql = spark_cdc._cast_instant('cast(' ~ raw ~ ' as string)', none, entity.timezone) -%}
        {%- set misfit = raw ~ ' is not null and ' ~ sql ~ ' is null' -%}
    {%- elif kind == 'timestamp_ntz' and from_kind == 'date' -%}
        {%- set sql = 'cast(' ~ raw ~ ' as timestamp_ntz)' -%}
    {%- elif kind in ['date', 'timestamp_ntz'] and from_kind in ['timestamp', 'timestamp_ntz'] -%}
        {%- set clock = raw if from_kind == 'timestamp_ntz' else spark_cdc._wall_clock('from_utc_timestamp(' ~ raw ~ ', ' ~ spark_cdc._literal(entity.timezone) ~ ')') -%}
        {%- set sql = 'cast(' ~ clock ~ ' as date)' if kind == 'date' else clock -%}
        {%- set misfit = 'not cast(' ~ sql ~ ' as timestamp_ntz) <=> ' ~ clock -%}
    {%- else -%}
        {{ return({'problem': 'its type was ' ~ former_type ~ ', of which spark_cdc can not make ' ~ column.data_type ~ ". Declare a column of "
            ~ 'another name with that type, and name this one as dropped; or put the type back'}) }}
    {%- endif -%}
    {%- set unkept = spark_cdc._orc_misfit(spark_cdc._hash_type(type), '(' ~ sql ~ ')') if column.get('in_orc') else '' -%}
    {%- set misfit = misfit ~ ' or coalesce(' ~ unkept ~ ', false)' if unkept else misfit -%}
    {%- set or_null = 'if(' ~ misfit ~ ', null, ' ~ sql ~ ')' -%}
    {{ return({'sql': or_null if column.on_cast_error == 'null' else sql, 'misfit': misfit, 'problem': none}) }}
{%- endmacro -%}


{#- Whether a row was first written by a load before a point in time, as a condition: by the row's
    own business date or start, so that it holds too where rows of the history were gathered under
    another load's name. Events are never gathered. -#}
{%- macro _written_before(since, events=false) -%}
    {%- set date = since[:4] ~ '-' ~ since[4:6] ~ '-' ~ since[6:8] -%}
    {%- if events -%}
load_id < '{{ since }}'
    {%- elif 'T' not in since -%}
business_date < date'{{ date }}'
    {%- else -%}
        {%- set start = "timestamp_ntz'" ~ date ~ ' ' ~ since[9:11] ~ ':' ~ since[11:13] ~ ':' ~ since[13:15] ~ "'" -%}
if(operation in {{ spark_cdc._operations('changes') }}, eff_start_date < {{ start }}, load_id < '{{ since }}')
    {%- endif -%}
{%- endmacro -%}


{#- The ledger as the last definition has it, whatever definition a row was written under: the
    relation itself, as long as no column has moved and no key has changed, else a query between
    brackets. Other than in <entity>_committed, all loads and operations are there. -#}
{%- macro _across_changes(entity, ledger, layout) -%}
{%- if not layout -%}{{ return(ledger) }}{%- endif -%}
(
    select
        {%- for column in spark_cdc._ledger_columns(entity) %}
        {{ spark_cdc._shown_sql(entity, column, layout) }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ ledger }}
)
{%- endmacro -%}


{#- The events of all loads as the last definition has them: the relation itself as long as no
    column has moved, else a query between brackets. Keys and events are hashed anew, so that those
    of one key, and events that came twice, are known as such across the change. -#}
{%- macro _archived_events(entity, events, layout) -%}
    {%- if not layout -%}{{ return(events) }}{%- endif -%}
    {%- set columns = spark_cdc._event_columns(entity) -%}
    {#- A generator, not a plain expression, which Spark's optimizer would follow through all names
        of its columns: see _set_for_staging(), which a view can't have. With 20 columns that
        fills a heap of 2 GB. -#}
    {%- set event_hash = 'stack(1, ' ~ spark_cdc._event_hash(entity) ~ ')' -%}
    {%- set replaced, former = {'event_hash': event_hash}, [] -%}
    {%- for key in spark_cdc._old_keys(entity) -%}{%- do former.append(dict(key, name=key.of.name)) -%}{%- endfor -%}
    {#- keys of loads before the key changed -#}
    {%- for name, keys in [('key_hash', entity.key_columns), ('old_key_hash', former)] if layout.get('rekeyed') and former -%}
        {%- set sql -%}
if(
    {{ spark_cdc._written_before(layout.rekeyed, true) }} and {{ name }} is not null,
    {{ spark_cdc._hash(keys) | indent(4) }},
    {{ name }}
)
        {%- endset -%}
        {%- do replaced.update({name: sql}) -%}
    {%- endfor -%}
(
    select
        {% for column in columns -%}
        {{ spark_cdc._aliased(replaced.get(column.name, column.sql) | indent(8), column.sql) }},
        {% endfor -%}
        business_date,
        load_id
    from (
        select
            {% for column in columns -%}
            {{ spark_cdc._aliased(spark_cdc._archived_value(entity, column, layout), column.sql) }},
            {% endfor -%}
            business_date,
            load_id
        from {{ events }}
    ) as laid_out
)
{%- endmacro -%}


{#- A column of the events as the last definition has it; in the lists of columns that an event
    lacks, their names as they are now. -#}
{%- macro _archived_value(entity, column, layout) -%}
    {%- set cases = [] -%}
    {%- for name, place in (layout.get('shown') or {}).items() if column.name in ['event_absent', 'event_unavailable'] -%}
        {%- for current in entity.stored if spark_cdc._place(layout, current) == place -%}
            {%- do cases.append('when ' ~ spark_cdc._literal(name) ~ ' then ' ~ spark_cdc._literal(current.name)) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if cases -%}
transform({{ column.name }}, name -> case lower(name) {{ cases | join(' ') }} else name end)
    {%- else -%}
        {%- set prefix = 'cdc__old_' if column.name.startswith('cdc__old_') else '' -%}
{{ spark_cdc._place_sql(spark_cdc._place(layout, {'name': column.name.removeprefix(prefix)}), true, prefix) }}
    {%- endif -%}
{%- endmacro -%}


{#- The rows of the ledger as they are under a new definition: columns where they are declared now,
    hashes computed anew. The load that brings the new definition compares with these, so that a row
    becomes U only if its values differ, and writes all of them as its checkpoint, so that no later
    load has to do so again.
    Arguments: entity (as it is declared now), ledger (relation), before (layout of the loads so
    far), diff (of _definition_diff()).
    Returns a query between brackets, with the ledger's columns but cdc__note. -#}
{%- macro _restated_ledger(entity, ledger, before, diff) -%}
{%- set technical = ['eff_start_date'] + (['event_position'] if entity.events else []) + ['business_date', 'load_id', 'operation'] -%}
(
    select
        {{ entity.stored | map(attribute='sql') | join(',\n        ') }},
        {% if diff.key == 'same' or not entity.key_columns -%}
        key_hash,
        {% else -%}
        {{ spark_cdc._hash(entity.key_columns) | indent(8) }} as key_hash,
        {% endif -%}
        {{ spark_cdc._hash(entity.compared) | indent(8) }} as nonkey_hash,
        {% if entity.untracked -%}
        {{ spark_cdc._hash(entity.untracked) | indent(8) }} as untracked_hash,
        {% endif -%}
        {{ technical | join(',\n        ') }}
    from (
        select
            {% for item in diff.columns -%}
            {{ spark_cdc._aliased(spark_cdc._former_sql(item, before), item.column.sql) }},
            {% endfor -%}
            key_hash,
            {{ technical | join(',\n            ') }}
        from {{ ledger }}
    ) as laid_out
    {%- if diff.key == 'other' and entity.events %}
    -- a key that was never there has no other columns
    where operation <> 'T' or not ({{ spark_cdc._any_null(entity.key_columns) }})
    {%- endif %}
)
{%- endmacro -%}


{#- A table with its columns under their declared names, for loads that were written under this
    layout: the relation itself, as long as they lie there anyway, else a query between brackets.
    Arguments: entity, table (ledger), layout, columns (of another table, as they lie under the
    layout), condition (which of the rows; none for all). -#}
{%- macro _laid_out(entity, table, layout, columns=none, condition=none) -%}
{%- if not layout.get('columns') -%}{{ return(table if condition is none else '(select * from ' ~ table ~ ' where ' ~ condition ~ ')') }}{%- endif -%}
(
    select
        {%- for column in columns or spark_cdc._ledger_columns(entity, layout) | rejectattr('name', 'equalto', 'cdc__note') %}
        {{ spark_cdc._aliased(column.at_sql, column.sql) }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ table }}
    {%- if condition %}
    where {{ condition }}
    {%- endif %}
)
{%- endmacro -%}


{#- Where the ledger holds what. A table in a Hive metastore can only get more columns, so those of
    a ledger are never dropped, renamed or given another type: where an entity's definition changes,
    its layout says which physical column holds which declared one. It stands in the manifest and in
    the record of each load, and is empty as long as every column lies under its own name.

    A layout is a dictionary:
    columns   by name in lower case, those that are not simply there under their own name, each as a
              place: {at: physical column, was: place before the type changed, convert: expression
              that makes the new value of cdc__raw_value, default: expression for rows of loads
              before `since`, since: when the column came}
    shown     by name, places of columns that were dropped or have another name now;
              <entity>_committed goes on showing them
    retired   physical columns that are no longer written
    rekeyed   loads before this have key hashes of another definition
    filled    by name, columns that came later, but that a replay has filled: {at, type}

    Points in time are the date or time that load ids begin with, so that they hold for every rerun
    of a load (see _written_before()).
    Arguments: diff (of _definition_diff()), before (layout), found (the ledger's columns: physical
    name in lower case to type), since.
    Returns the next layout. -#}
{%- macro _layout(diff, before, found, since) -%}
    {%- set columns = {} -%}
    {%- set shown = dict(before.get('shown') or {}) -%}
    {%- set retired = (before.get('retired') or []) | list -%}
    {%- for former in diff.dropped -%}
        {%- set place = spark_cdc._place(before, former) -%}
        {%- do retired.append(place.at | lower) -%}
        {%- do shown.update({former.name | lower: place}) -%}
    {%- endfor -%}
    {%- set taken = retired | list -%}
    {%- for item in diff.columns if item.former is not none -%}{%- do taken.append(spark_cdc._place(before, item.former).at | lower) -%}{%- endfor -%}
    {%- for item in diff.columns -%}
        {%- set name = item.column.name -%}
        {%- set place = none if item.former is none else spark_cdc._place(before, item.former) -%}
        {%- if item.former is none or item.conversion is not none -%}
            {%- set former_place = place -%}
            {%- set place = {'at': spark_cdc._free_name(item.column, taken, found)} -%}
            {%- do taken.append(place.at | lower) -%}
            {%- if former_place -%}
                {%- do retired.append(former_place.at | lower) -%}
                {%- set place = dict(place, was=former_place, convert=item.conversion.sql) -%}
            {%- elif item.default is not none -%}
                {%- set place = dict(place, default=item.default, since=since) -%}
            {%- endif -%}
        {%- endif -%}
        {%- do columns.update({name | lower: place}) if place != {'at': name} -%}
        {%- do shown.update({item.former.name | lower: place}) if item.former is not none -%}
    {%- endfor -%}
    {%- for item in diff.columns -%}{%- do shown.pop(item.column.name | lower, none) -%}{%- endfor -%}
    {%- set parts = {'columns': columns, 'shown': shown, 'retired': retired, 'rekeyed': since if diff.key != 'same' else before.get('rekeyed')} -%}
    {{ return(dict(parts.items() | selectattr(1))) }}
{%- endmacro -%}


{#- A name for a new physical column: the declared one, with a number behind it if loads have used
    that. A column that an attempt without a commit has added is taken, if it has the type. -#}
{%- macro _free_name(column, taken, found) -%}
    {%- set type = spark_cdc._plain_type_shown(column.data_type) -%}
    {%- for number in range(1, 1000) -%}
        {%- set name = column.name if number == 1 else column.name ~ '__' ~ number -%}
        {%- if name | lower not in taken and found.get(name | lower, type) == type -%}{{ return(name) }}{%- endif -%}
    {%- endfor -%}
{%- endmacro -%}


{#- Where a column is, given its name. -#}
{%- macro _place(layout, column) -%}
    {{ return((layout.get('columns') or {}).get(column.name | lower) or {'at': column.name}) }}
{%- endmacro -%}


{#- What a place holds, whichever load wrote the row: an expression over the ledger's columns, or
    those of <entity>_events.
    Arguments: place, events (whether it is the latter), prefix (of the physical names: cdc__old_
    for the former keys there). -#}
{%- macro _place_sql(place, events=false, prefix='') -%}
    {%- set own = spark_cdc._quote(prefix ~ place.at) -%}
    {%- if place.get('was') -%}
coalesce({{ own }}, {{ place.convert | replace('cdc__raw_value', spark_cdc._place_sql(place.was, events, prefix)) }})
    {%- elif place.get('default') -%}
if({{ spark_cdc._written_before(place.since, events) }}, {{ place.default }}, {{ own }})
    {%- else -%}
{{ own }}
    {%- endif -%}
{%- endmacro -%}


{#- Columns as {name, sql, data_type}, each with the name of the physical column that it is written
    to (at, and at_sql for SQL). The former keys of <entity>_events lie beside the keys: former_keys
    says that cdc__old_<name> is one. -#}
{%- macro _placed_columns(columns, layout, former_keys=false) -%}
    {%- set placed = [] -%}
    {%- for column in columns -%}
        {%- set prefix = 'cdc__old_' if former_keys and column.name.startswith('cdc__old_') else '' -%}
        {%- set bare, sql = column.name.removeprefix(prefix), column.get('sql') or spark_cdc._quote(column.name) -%}
        {%- set at = prefix ~ (spark_cdc._place(layout, {'name': bare}).at if layout else bare) -%}
        {%- do placed.append({'name': column.name, 'sql': sql, 'data_type': column.data_type, 'at': at,
                              'at_sql': sql if at == column.name else spark_cdc._quote(at)}) -%}
    {%- endfor -%}
    {{ return(placed) }}
{%- endmacro -%}


{#- A column as every load has it, whichever definition it was written under. -#}
{%- macro _shown_sql(entity, column, layout) -%}
    {%- if column.name == 'key_hash' and layout.get('rekeyed') and entity.key_columns -%}
        {%- set keys = [] -%}
        {%- for key in entity.key_columns -%}{%- do keys.append(dict(key, sql=spark_cdc._place_sql(spark_cdc._place(layout, key)))) -%}{%- endfor -%}
        {{ return('if(' ~ spark_cdc._written_before(layout.rekeyed) ~ ', ' ~ spark_cdc._hash(keys) | indent(4) ~ ', key_hash) as key_hash') }}
    {%- endif -%}
    {{ return(spark_cdc._aliased(spark_cdc._place_sql(spark_cdc._place(layout, column)), column.sql)) }}
{%- endmacro -%}


{#- Whether an entity has the columns, types and roles now that a fingerprint (of _fingerprint())
    stands for, whatever the secret. -#}
{%- macro _has_columns_of(entity, fingerprint) -%}
    {{ return((fingerprint or '')[:32] == spark_cdc._fingerprint(spark_cdc._definition(entity))[:32]) }}
{%- endmacro -%}


{#- Says that the YAML of an entity has other columns than its last load, which no view can show
    yet: the beginning of a sentence; none if that is not so. Argument: fingerprint (of that load;
    none before the first). -#}
{%- macro _behind_columns(entity, fingerprint) -%}
    {{ return(none if not fingerprint or spark_cdc._has_columns_of(entity, fingerprint)
        else entity.name ~ ': the columns of stg_' ~ entity.name ~ ' are not those of the last load,') }}
{%- endmacro -%}
