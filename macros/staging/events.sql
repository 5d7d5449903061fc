{#- Staging of change events as SQL: what an adapter reads out of the source, typed, judged, and
    with the hash of its key. Column kinds of formats bring their columns typed; message kinds bring
    them as maps of text.
    Arguments: entity, landed (relation with the columns of the source and `cdc__unparsed`; for
    message kinds `message`, `message_key` and the declared control columns, null where they were
    not landed beside the message).
    Returns a query with the columns of _event_columns(), without its partition; where
    _has_place() also cdc__place. note: an expression in place of the note on what can't be
    accepted. Events of erased keys have no sensitive values. -#}
{%- macro _stage_events_sql(entity, landed, note=none) -%}
    {%- set names = spark_cdc._staged_event_names(entity) -%}
    {{ return(spark_cdc._erased_staged_rows_sql(entity, spark_cdc._staged_events_sql(entity, landed, note), names)) }}
{%- endmacro -%}


{%- macro _staged_event_names(entity) -%}
    {%- set old_keys, by_names = spark_cdc._old_keys(entity), entity.events.unique_keys | length > 0 -%}
    {{ return(['event_op', 'event_position'] + (['cdc__place'] if spark_cdc._has_place(entity) else [])
        + ['event_transaction', 'event_time', 'event_hash', 'key_hash'] + (['old_key_hash'] if old_keys else [])
        + (['old_alternate_hash', 'alternate_hashes'] if by_names else []) + (old_keys + entity.stored) | map(attribute='name') | list
        + ['event_absent', 'event_unavailable', 'event_unexpected'] + (['event_origin'] if entity.events.origin else []) + ['cdc__note']) }}
{%- endmacro -%}


{%- macro _staged_events_sql(entity, landed, note) -%}
{%- set old_keys, names_origin = spark_cdc._old_keys(entity), spark_cdc._adapter_format(entity.events.format).origin -%}
{%- set faults = [] if note else spark_cdc._numbered_faults(spark_cdc._event_faults(entity)) -%}
{%- set kind -%}if({{ spark_cdc._event_key_is_missing(entity) }}, 'null_keys', 'failed_casts'){%- endset -%}
{%- do spark_cdc._refuse_events(entity) -%}
{{ spark_cdc._typed_messages_ctes(entity, landed, old_keys) if entity.events.is_message else spark_cdc._typed_rows_ctes(entity, landed, old_keys) }},

completed as (
    select
        *,
        {{ spark_cdc._event_position(entity) | indent(8) }} as cdc__position,
        {%- if spark_cdc._has_place(entity) %}
        event_position[0] as cdc__place,
        {%- endif %}
        {{ spark_cdc._event_names_absent(entity) | indent(8) }} as event_absent,
        {{ spark_cdc._event_names_unavailable(entity) | indent(8) }} as event_unavailable,
        {{ spark_cdc._event_names_unexpected(entity) | indent(8) }} as event_unexpected
        {%- for old in old_keys %},
        {{ spark_cdc._cast(old, spark_cdc._raw(old), true, entity.timezone) }} as {{ old.sql }}
        {%- endfor %},
        event_problem is null and coalesce(event_op in ('insert', 'update', 'upsert', 'read'), false) as cdc__brings_row
    from typed
)
{%- if faults %},

judged as (
    select
        *,
        {{- spark_cdc._fault_bits(faults) | indent(8) }}
    from completed
)
{%- endif %}

select
    event_op,
    cdc__position as event_position,
    {%- if spark_cdc._has_place(entity) %}
    cdc__place,
    {%- endif %}
    event_transaction,
    event_time,
    {{ spark_cdc._event_hash(entity) | indent(4) }} as event_hash,
    {{ spark_cdc._event_key_hash(entity) | indent(4) }} as key_hash,
    {%- if old_keys %}
    {#- the hash of the key before the event, where it was another one #}
    {%- set columns, moved = [], [] -%}
    {%- for old in old_keys -%}
        {%- do columns.append(dict(old.of, sql=old.sql)) -%}
        {%- do moved.append('not ' ~ old.sql ~ ' <=> ' ~ old.of.sql) -%}
    {%- endfor %}
    {{ spark_cdc._hash_unless(spark_cdc._any_null(old_keys) ~ ' or not (' ~ moved | join(' or ') ~ ')', columns) | indent(4) }} as old_key_hash,
    {%- endif %}
    {%- if entity.events.unique_keys %}
    {{ spark_cdc._event_key_old_alternate(entity) | indent(4) }} as old_alternate_hash,
    if(event_op in ('insert', 'update', 'upsert', 'read'), {# -#}
    {{ spark_cdc._alternate_hash_array(entity) | indent(4) }}, null) as alternate_hashes,
    {%- endif %}
    {% for old in old_keys -%}
    {{ old.sql }},
    {% endfor -%}
    {%- for column in entity.stored -%}
    {%- if entity.events.get('columns_sent') and column.role != 'key' -%}
    if(array_contains(event_absent, {{ spark_cdc._literal(column.name) }}), null, {{ column.sql }}) as {{ column.sql }},
    {% else -%}
    {{ column.sql }},
    {% endif -%}
    {% endfor -%}
    event_absent,
    event_unavailable,
    if(size(event_unexpected) > 0, event_unexpected, null) as event_unexpected,
    {%- if entity.events.origin %}
    {{ 'event_origin' if names_origin else 'cast(null as ' ~ spark_cdc._event_origin_type() ~ ')' }} as event_origin,
    {%- endif %}
    {%- if note %}
    {{ note }} as cdc__note
    {%- else %}
    if(
        {{ spark_cdc._has_fault(faults) }},
        {{ spark_cdc._reject_note(entity, kind, faults) | indent(8) }},
        null
    ) as cdc__note
    {%- endif %}
from {{ 'judged' if faults else 'completed' }}
{%- endmacro -%}


{#- What messages bring, column by column in its type. -#}
{%- macro _typed_messages_ctes(entity, landed, old_keys) -%}
{%- set order_columns, marks = spark_cdc._event_order_columns(entity), spark_cdc._mark_lists(entity) -%}
with landed as (
    select
        message,
        message_key,
        named_struct(
            'message', message
            {%- for column in entity.columns | selectattr('role', 'equalto', 'control') %},
            {{ spark_cdc._literal(column.name) }}, {{ spark_cdc._quote(column.from) }}
            {%- endfor %}
        ) as landed_row
    from {{ landed }}
),

events as (
    {{ spark_cdc._adapter(entity.events.format)(entity, 'landed') | indent(4) }}
),

received as (
    select
        event_op,
        event_position,
        event_transaction,
        event_time,
        event_problem,
        event_before,
        event_after,
        {{ 'event_origin,' if entity.events.origin }}
        {{ 'landed_row.message' if entity.events.landed_row else 'cast(null as string)' }} as landing_message
        {%- for name, list in marks.items() %},
        array({{ list | join(', ') }}) as {{ name }}
        {%- endfor %}
        {%- for column in entity.stored %},
        {{ spark_cdc._sent_image_value(column) }} as {{ spark_cdc._raw(column) }}
        {%- endfor %}
        {%- for column in order_columns %},
        {%- set name = spark_cdc._literal(column.from) %}
        coalesce({{ 'landed_row.' ~ column.sql ~ ', ' if entity.events.landed_row -}}
        event_after[{{ name }}], event_before[{{ name }}]) as {{ spark_cdc._raw(column) }}
        {%- endfor %}
        {%- for old in old_keys %},
        {{ spark_cdc._sent_old_key(entity, old.of, spark_cdc._sent_image_value(old.of)) }} as {{ spark_cdc._raw(old) }}
        {%- endfor %}
    from events
),

-- what most messages have no need of is looked at only where it can be there
viewed as (
    select
        *,
        {{ spark_cdc._sent_names_count(entity) }} as cdc__sent_names
        {%- if marks %},
        coalesce(arrays_overlap(map_values(event_after), flatten(array({{ marks | join(', ') }}))), false) as cdc__is_marked
        {%- endif %}
    from received
),

-- every column is text here
typed as (
    select
        *
        {%- for column in entity.stored + order_columns %},
        {%- set is_mark = spark_cdc._is_sent_mark(entity, column, marks) %}
        {%- set value = spark_cdc._cast(column, spark_cdc._raw(column), entity.source.text, entity.timezone) %}
        {{ 'if(' ~ is_mark ~ ', null, ' ~ value ~ ')' if is_mark else value }} as {{ column.sql }}
        {%- endfor %}
    from viewed
)
{%- endmacro -%}


{#- What rows of change tables bring: their columns are cast before the adapter reads them. -#}
{%- macro _typed_rows_ctes(entity, landed, old_keys) -%}
{{ spark_cdc._cast_columns_ctes(entity, landed, 'cast_columns') }},

events as (
    {{ spark_cdc._adapter(entity.events.format)(entity, 'cast_columns') | indent(4) }}
),

typed as (
    select
        *
        {%- for old in old_keys %},
        {{ spark_cdc._sent_old_key(entity, old.of, 'cast(' ~ spark_cdc._raw(old.of) ~ ' as string)') }} as {{ spark_cdc._raw(old) }}
        {%- endfor %}
    from events
)
{%- endmacro -%}


{#- A number by which equal events are told from different ones that claim the same place in the
    order. Of a delete only the key counts. -#}
{%- macro _event_hash(entity) -%}
{%- set hashed = {'delete': [], 'others': []} -%}
{%- for kind, columns in [('delete', entity.key_columns), ('others', spark_cdc._old_keys(entity) + entity.stored)] -%}
    {%- for column in columns -%}
        {%- set value = "to_json(named_struct('m', " ~ column.sql ~ '))' if column.data_type.startswith('map')
                or 'map<' in column.data_type else column.sql -%}
        {%- do hashed[kind].append(', ' ~ column.sql ~ ' is null, ' ~ value) -%}
    {%- endfor -%}
{%- endfor -%}
if(
    event_op = 'delete',
    xxhash64(event_op{{ hashed.delete | join }}),
    xxhash64(coalesce(event_op, ''){{ hashed.others | join }}, event_absent, event_unavailable)
)
{%- endmacro -%}


{#- By which keys an event names its row, as hashes. -#}


{#- The hash of the key; an entity without a key that is insert_only is told apart by the place
    of its events. -#}
{%- macro _event_key_hash(entity) -%}
{%- if entity.key_columns -%}
{{ spark_cdc._hash_unless(spark_cdc._event_key_is_missing(entity), entity.key_columns) }}
{%- else -%}
{%- set place -%}
concat(to_json(named_struct('position', cdc__position)), if(event_position is null, cast({{ spark_cdc._event_hash(entity) }} as string), ''))
{%- endset -%}
if(event_op in ('insert', 'upsert', 'read'), {{ spark_cdc._hash_digest(place, spark_cdc._secret_of(entity.sensitive)) }}, null)
{%- endif -%}
{%- endmacro -%}


{#- Whether an event names no key. -#}
{%- macro _event_key_is_missing(entity) -%}
{%- if entity.key_columns -%}
event_op in ('truncate', 'control') or {{ spark_cdc._any_null(entity.key_columns) }}
{%- else -%}
not coalesce(event_op in ('insert', 'upsert', 'read'), false)
{%- endif -%}
{%- endmacro -%}


{#- By which other unique key an event names the old row; null where it names the key itself, or
    nothing. -#}
{%- macro _event_key_old_alternate(entity) -%}
case when event_op not in ('update', 'upsert', 'delete') or coalesce({{ spark_cdc._sent_before(entity.key_columns) | join(' or ') }}, false) then null
{%- for unique_key in entity.events.unique_keys -%}
{%- set columns = [] -%}
{%- for column in unique_key -%}
    {%- set text -%}event_before[{{ spark_cdc._literal(column.from) }}]{%- endset -%}
    {%- do columns.append(dict(column, sql=spark_cdc._cast(column, text, true, entity.timezone))) -%}
{%- endfor %} when {{ spark_cdc._sent_before(unique_key) | join(' and ') }} then {{ spark_cdc._alternate_hash(columns) }}
{%- endfor %} end
{%- endmacro -%}


{#- Names of columns that an event lacks or has beyond the declared ones, as arrays. Keys are
    never missing: that is a reason to reject. -#}






{#- Of the stored columns those that an event that brings a row does not have (of an update also
    those in which a null says that nothing changed; with columns_sent those that the row does not
    name), as an array; null where it has all. -#}
{%- macro _event_names_absent(entity) -%}
{%- set events = entity.events -%}
{%- set is_there = 'map_contains_key(event_after, ' if events.is_message else 'array_contains(cdc__names, ' -%}
{%- set names, kept = [], [] -%}  {#- kept: a null says that nothing changed -#}
{%- for column in entity.stored if column.role != 'key' -%}
    {%- set lacks = (['not ' ~ is_there ~ spark_cdc._literal(column.from) ~ ')'] if events.is_message or entity.source.facts.has_names else [])
        + (["event_op in ('update', 'upsert')"] if (column.null_means or events.null_means) == 'unchanged' else []) -%}
    {%- do kept.append(column.name) if (column.null_means or events.null_means) == 'unchanged' -%}
    {%- set condition = spark_cdc._raw(column) ~ ' is null and ' ~ ('(' ~ lacks | join(' or ') ~ ')' if lacks | length > 1 else lacks[0]) if lacks else '' -%}
    {%- set unsent = 'not array_contains(cdc__sent, ' ~ spark_cdc._literal(column.from | lower) ~ ')' if events.get('columns_sent') else '' -%}
    {%- set condition = [unsent, condition] | select | join(' or ') -%}
    {%- do names.append('if(' ~ condition ~ ', ' ~ spark_cdc._literal(column.name) ~ ', null)') if condition -%}
{%- endfor -%}
{{ spark_cdc._event_names_found(names, 'cdc__sent_names < ' ~ (entity.stored | unique(attribute='from', case_sensitive=true) | list | length) if events.is_message and not kept else none) }}
{%- endmacro -%}


{#- Of the stored columns those that an event that brings a row has only a mark in place of, as an
    array; null where it has all. -#}
{%- macro _event_names_unavailable(entity) -%}
{%- set names, marks = [], spark_cdc._mark_lists(entity) if entity.events.is_message else {} -%}
{%- for column in entity.stored if entity.events.is_message or entity.source.text or column.data_type == 'string' -%}
    {%- set is_mark = spark_cdc._is_sent_mark(entity, column, marks) -%}
    {%- do names.append('if(coalesce(' ~ is_mark ~ ', false), ' ~ spark_cdc._literal(column.name) ~ ', null)') if is_mark -%}
{%- endfor -%}
{{ spark_cdc._event_names_found(names, 'cdc__is_marked' if entity.events.is_message else none) }}
{%- endmacro -%}


{#- Names as an array, of an event that brings a row; null where there is none. Arguments: names
    (expressions, null where a name is none), may_be (a condition without which there is none;
    or none). -#}
{%- macro _event_names_found(names, may_be) -%}
{%- if not names -%}
cast(null as array<string>)
{%- else -%}
if(
    event_op in ('insert', 'update', 'upsert', 'read')
    {%- if may_be %} and {{ may_be }}{% else %}
    and coalesce(
        {{ names | join(',\n        ') }}
    ) is not null
    {%- endif %},
    {%- if may_be %}
    nullif(
        {{ spark_cdc._texts_found(names) | indent(8) }},
        cast(array() as array<string>)
    ),
    {%- else %}
    {{ spark_cdc._texts_found(names) | indent(4) }},
    {%- endif %}
    null
)
{%- endif -%}
{%- endmacro -%}


{#- What an event's new image has that is no column of the entity. It is looked for only where
    there are more names than declared columns, which is cheap to count. -#}
{%- macro _event_names_unexpected(entity) -%}
{%- set found = 'map_keys(event_after)' if entity.events.is_message else 'cdc__names' -%}
{%- if not entity.events.is_message and not entity.source.facts.has_names -%}
cast(null as array<string>)
{%- else -%}
if(
    size({{ found }}) > {{ 'cdc__sent_names' if entity.events.is_message else spark_cdc._sent_names_count(entity) }},
    array_except({{ found }}, array({{ spark_cdc._literals(entity.columns | map(attribute='from')) }})), null
)
{%- endif -%}
{%- endmacro -%}


{#- How many of the stored columns a new image has, as a number: it lacks none where they are all,
    and has others, or a name twice, only where it has more. What gives the order may lie beside a
    message, and is not counted there. -#}
{%- macro _sent_names_count(entity) -%}
{%- set is_message = entity.events.is_message -%}
{%- for column in (entity.stored if is_message else entity.columns) | unique(attribute='from', case_sensitive=true) -%}
{{ ' + ' if not loop.first }}if({{ spark_cdc._raw(column) ~ ' is not null or ' if column.role != 'key' }}{# -#}
{{ 'map_contains_key(event_after, ' if is_message else 'array_contains(cdc__names, ' }}{{ spark_cdc._literal(column.from) }}), 1, 0)
{%- endfor -%}
{%- endmacro -%}


{#- What may be wrong with an event: a list of dictionaries with column (name; none where it is
    no column's fault), condition and reason (expression of a text). A new image can have a name
    twice only where it has more names than the columns found in it; event_unexpected is not null
    then. -#}
{%- macro _event_faults(entity) -%}
    {%- set operations, is_message = spark_cdc._event_operations(), entity.events.is_message -%}
    {%- set landing = spark_cdc._landing_fault(entity) -%}
    {%- set unknown -%}
concat('operation ', coalesce(concat('\'', event_op, '\''), 'missing'), '; accepted are {{ operations | join(', ') }}')
    {%- endset -%}
    {%- set no_tie = spark_cdc._any_null(entity.events.tie_breaker) if entity.events.tie_breaker else 'false' -%}
    {%- set needs_position = "event_problem is null and event_op not in ('control', 'read')" -%}
    {%- set position = spark_cdc._adapter_format(entity.events.format).position or entity.events.order | map(attribute='name') | join(', ') -%}
    {%- set faults = [] -%}
    {%- for wanted, condition, reason in [
        (true, 'event_problem is not null', 'event_problem'),
        (not is_message, landing.condition, landing.reason),
        (true, 'event_problem is null and not coalesce(event_op in (' ~ spark_cdc._literals(operations) ~ '), false)', unknown),
        (entity.events.tie_breaker, needs_position ~ ' and (' ~ no_tie ~ ')',
         spark_cdc._literal('the tie_breaker ' ~ entity.events.tie_breaker | map(attribute='name') | join(', ') ~ ' is null')),
        (true, needs_position ~ ' and cdc__position is null and not (' ~ no_tie ~ ')',
         spark_cdc._literal('the position in the order of events is missing' ~ (': ' ~ position if position))),
        (entity.events.insert_only, "event_op in ('update', 'delete', 'truncate')", "concat(event_op, ' in an entity that is insert_only')"),
        (is_message, '(event_after is null or event_unexpected is not null) and ' ~ spark_cdc._has_repeated_names('coalesce(event_after, event_before)'),
         "'a name more than once in a JSON object'"),
        (is_message and entity.source.on_unexpected_column != 'ignore', 'size(event_unexpected) > 0',
         "concat('unexpected columns: ', array_join(event_unexpected, ', '))"),
    ] if wanted -%}
        {%- do faults.append({'column': none, 'condition': condition, 'reason': reason}) -%}
    {%- endfor -%}
    {%- do faults.extend(spark_cdc._reject_faults(entity)) -%}
    {%- for old in spark_cdc._old_keys(entity) -%}
        {%- set raw = spark_cdc._raw(old) -%}
        {%- set reason -%}
concat({{ spark_cdc._literal('old ' ~ old.of.name ~ ': ') }}, {{ spark_cdc._shown(raw) }}, {# -#}
{{ spark_cdc._literal(' is not accepted as ' ~ old.data_type) }})
        {%- endset -%}
        {%- set lossy = spark_cdc._reject_loss_condition(old, raw, old.sql, entity) -%}
        {%- set lossy = ' or ' ~ lossy if lossy -%}
        {%- set condition = 'event_problem is null and ' ~ raw ~ ' is not null and (' ~ old.sql ~ ' is null' ~ lossy ~ ')' -%}
        {%- do faults.append({'column': old.of.name, 'condition': condition, 'reason': reason}) -%}
    {%- endfor -%}
    {{ return(faults) }}
{%- endmacro -%}


{#- Columns that only give an order, not stored. -#}
{%- macro _event_order_columns(entity) -%}
    {%- set columns = entity.events.order + entity.events.tie_breaker -%}
    {{ return(columns | selectattr('role', 'equalto', 'control') | unique(attribute='name') | list) }}
{%- endmacro -%}


{#- The type of event_origin: where an event is from, as formats say whose messages name it. -#}
{%- macro _event_origin_type() -%}struct<source_table:string,source_log:string>{%- endmacro -%}


{#- The position of an event in the order of all: snapshot rows without a place in the log first,
    then what the format and the tie-breaker say; null where a part is missing. -#}
{%- macro _event_position(entity) -%}
{%- set tie_parts = spark_cdc._order_parts(entity.events.tie_breaker) -%}
{%- set has_null = 'size(event_position) > 0 and sort_array(event_position)[0] is null' -%}
{%- set is_placed = ' and not coalesce(get(event_position, 0) > 0 and not (' ~ has_null ~ '), false)' -%}
case
    when event_op = 'read'{{ is_placed if not spark_cdc._reads_come_first(entity) }}
        then concat(
            array(0L),
            if({{ has_null }}, cast(split(array_join(event_position, ',', '0'), ',') as array<bigint>), coalesce(event_position, array()))
            {%- if tie_parts %},
            array({% for part in tie_parts %}coalesce({{ part }}, 0L){{ ', ' if not loop.last }}{% endfor %})
            {%- endif %}
        )
    when {{ has_null }} then null
    {%- if tie_parts %}
    when event_op <> 'read' and ({{ spark_cdc._any_null(entity.events.tie_breaker) }}) then null
    {%- endif %}
    else concat(
        array(1L), event_position
        {%- if tie_parts %}, array({% for part in tie_parts %}{{ 'coalesce(' ~ part ~ ', 0L)' }}{{ ', ' if not loop.last }}{% endfor %}){% endif %}
    )
end
{%- endmacro -%}


{#- Whether rows of a snapshot come before all changes although they have numbers: those say when
    a row was read, or where in the log a snapshot began while older transactions were open. Other
    rows of a snapshot take the place that they have; 0 is none. -#}
{%- macro _reads_come_first(entity) -%}
    {%- set times = entity.events.order | selectattr('data_type', 'in', ['date', 'timestamp', 'timestamp_ntz']) | list -%}
    {{ return(spark_cdc._adapter_format(entity.events.format).reads is not none or times | length > 0) }}
{%- endmacro -%}


{#- Whether such rows say where in the log their snapshot began. -#}
{%- macro _reads_are_in_log(entity) -%}
    {%- set events = entity.events -%}
    {{ return(spark_cdc._adapter_format(events.format).reads == 'log' and not events.order and not events.get('order_fields')) }}
{%- endmacro -%}


{#- Staged events as a load takes them. A row of a snapshot that comes first is one of a snapshot
    that was taken again if it was read after all that loads before have applied. It then takes its
    place in the log, just before a change there.
    Arguments: entity, load (its plan), events (relation or query of staged events). Returns a
    relation. -#}
{%- macro _events_placed_sql(entity, load, events) -%}
    {%- set highest = load.applied.get('highest') -%}
    {%- if not highest or not spark_cdc._reads_are_in_log(entity) -%}{{ return(events) }}{%- endif -%}
    {%- set place = 'concat(array(1L, get(event_position, 1), get(event_position, 2) - 1), slice(event_position, 4, size(event_position)))' -%}
    {%- set columns = [] -%}
    {%- for name in spark_cdc._staged_event_names(entity) -%}
        {%- set sql = spark_cdc._quote(name) -%}
        {%- do columns.append('if(cdc__is_again, ' ~ place ~ ', event_position) as event_position' if name == 'event_position' else sql) -%}
    {%- endfor -%}
    {%- set sql -%}
(
select
    {{ columns | join(',\n    ') }}
from (
    select
        *,
        event_op = 'read' and coalesce(get(event_position, 1) > 0, false) and {{ place }} >= {{ spark_cdc._position_literal(highest) }} as cdc__is_again
    from {{ events | string | indent(4) }}
) as staged
) as placed
    {%- endset -%}
    {{ return(sql) }}
{%- endmacro -%}


{#- Whether the order of an entity's events is that of one number, which staging brings as
    cdc__place beside event_position: where the events are read again for each step of a load,
    an order of two columns or none is not worth another way. -#}
{%- macro _has_place(entity) -%}
    {%- set events = entity.events -%}
    {{ return(
        spark_cdc._is_landed_by_ledger(entity) and events.format == 'flagged_rows' and entity.key_columns | length > 0
        and not events.tie_breaker and spark_cdc._order_parts(events.order) | length == 1
    ) }}
{%- endmacro -%}


{#- The key columns once more, for the key that a row had before the event: cdc__old_<name>. -#}
{%- macro _old_keys(entity) -%}
    {%- set columns = [] -%}
    {%- for column in entity.key_columns -%}
        {%- set name = 'cdc__old_' ~ column.name -%}
        {%- do columns.append(dict(column, name=name, sql=spark_cdc._quote(name), of=column)) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- Columns that give an order, as numbers that sort as the columns do: bigint expressions, most
    significant first. A whole number or a time is one of them; a decimal with more than 18 digits
    before the point is two (three from 37 digits on), and digits behind the point are one more.
    Truncated quotient and remainder sort as the number does, also below zero. Nulls stay null, and
    no session's time zone plays a part.
    Arguments: columns (dictionaries with name, data_type, sql). Returns a list of texts. -#}
{%- macro _order_parts(columns) -%}
    {%- set parts = [] -%}
    {%- for column in columns -%}
        {%- set type, sql = column.data_type, column.sql -%}
        {%- set digits, scale = spark_cdc._decimal_digits(type) or [0, 0] -%}
        {%- if digits > 18 or scale -%}
            {%- set highest = [digits - 1, 0] | max // 18 -%}
            {%- for place in range(highest, -1, -1) -%}  {#- 18 digits at a time -#}
                {%- set rest = sql if place == highest else '(' ~ sql ~ ' % 1' ~ '0' * 18 * (place + 1) ~ ')' -%}
                {%- do parts.append(rest ~ ' div 1' ~ '0' * 18 * place) -%}
            {%- endfor -%}
            {%- if scale -%}
                {%- do parts.append('cast(cast(' ~ sql ~ ' % 1 as decimal(' ~ scale ~ ', ' ~ scale ~ ')) * 1' ~ '0' * scale
                        ~ ' as bigint)') -%}
            {%- endif -%}
        {%- else -%}
            {%- do parts.append({
                'date': 'cast(unix_date(' ~ sql ~ ') as bigint)',
                'timestamp': 'unix_micros(' ~ sql ~ ')',
                'timestamp_ntz': 'cast(cast(cast(' ~ sql ~ " - timestamp_ntz'1970-01-01 00:00:00' as interval second) as decimal(18, 6)) * 1000000 as bigint)",
                'bigint': sql,
            }.get(type, 'cast(' ~ sql ~ ' as bigint)')) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(parts) }}
{%- endmacro -%}


{#- Whether events may be read again instead of being written into <entity>_events first: where
    nobody reads them later (no archive), and where the source is files with typed columns, of
    which Spark reads only those that a step asks for. A model stg_<entity> that does more than
    stage() is read as it is. -#}
{%- macro _can_be_read_again(entity) -%}
    {%- set events, source = entity.events, entity.source -%}
    {{ return(
        (source.facts.by_column or source.facts.reads == 'feed' and events.format == 'delta_cdf') and not source.text and not events.archive and not events.is_message and not events.unique_keys
        and events.format != 'full_snapshot' and spark_cdc._is_plainly_staged(entity.name)
    ) }}
{%- endmacro -%}


{#- Whether a load may stage only the last message of a key (events_<format>_last()), where nobody
    reads the others later and the order is the one of the log. A model stg_<entity> that does more
    than stage() may leave out the last one. -#}
{%- macro _may_stage_last(entity) -%}
    {%- set events = entity.events -%}
    {{ return(
        spark_cdc._adapter_format(events.format).finds_last and entity.key_columns | length > 0
        and not (events.archive or events.order or events.tie_breaker or events.get('order_fields') or events.unique_keys)
        and events.get('table') is none and not events.insert_only and spark_cdc._is_plainly_staged(entity.name)
    ) }}
{%- endmacro -%}


{%- macro _read_again_view(entity) -%}{{ return('staged_' ~ entity.name) }}{%- endmacro -%}


{#- Whether what landed (in this session) has the declared types, so that no column is cast and
    none can lose anything. -#}
{%- macro _is_read_again_as_typed(entity) -%}
    {%- set types = {} -%}
    {%- for found in spark_cdc._describe(spark_cdc._landed_view(entity)) -%}
        {%- do types.update({found.col_name | lower: spark_cdc._plain_type_shown(found.data_type)}) -%}
    {%- endfor -%}
    {%- for column in entity.columns if column.get('encoding')
            or types.get(column.from | lower) != spark_cdc._plain_type_shown(column.data_type)
            or column.in_orc and spark_cdc._orc_misfit(spark_cdc._hash_type(column.data_type), '') -%}
        {{ return(false) }}
    {%- endfor -%}
    {{ return(true) }}
{%- endmacro -%}


{#- Makes what landed readable as events, with the columns of _event_columns() and, where
    _has_place(), cdc__place; the note says no more than whether an event is rejected.
    Arguments: entity, load (its plan), is_accepted (whether it is known that none is). -#}
{%- macro _create_read_again_view(entity, load, is_accepted=false) -%}
    {%- set columns = [] -%}
    {%- for column in entity.columns -%}{%- do columns.append(dict(column, is_cast=false)) -%}{%- endfor -%}
    {%- set typed = dict(entity, columns=columns) -%}
    {%- set faults = [] if is_accepted else spark_cdc._event_faults(typed) | map(attribute='condition') | list -%}
    {%- set note = "if(\n        " ~ faults | join('\n        or ') ~ ",\n        'rejected', null\n    )" if faults else 'cast(null as string)' -%}
    {%- set staged = '(\n' ~ spark_cdc._stage_events_sql(typed, spark_cdc._landed_view(entity), note) ~ '\n) as staged' -%}
    {%- do spark_cdc._send('create or replace temporary view ' ~ spark_cdc._read_again_view(entity) ~ ' as\nselect *\nfrom '
        ~ spark_cdc._events_placed_sql(entity, load, staged)) -%}
{%- endmacro -%}


{#- Stops if the settings of an entity's format are not accepted: validate() has said so before,
    but not where there is none (dbt show). -#}
{%- macro _refuse_events(entity) -%}
    {%- set problems = spark_cdc._adapter_problems(entity) -%}
    {%- if problems -%}
        {%- set message -%}
{{ entity.name }}: the settings of events.format {{ entity.events.format }} are not accepted.
  {{ problems | join('\n  ') }}
Correct the YAML of stg_{{ entity.name }}. Nothing was written.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
{%- endmacro -%}
