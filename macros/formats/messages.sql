{#- What the formats of JSON messages have in common: messages are parsed, each says what happened
    and has an order. -#}


{#- The fields of a message that an adapter reads, and those that give the order besides: of the
    setting order_fields, `a.b` is the field b of the object a; a declared column landed beside the
    message comes before a field of its name.
    Arguments: entity, known (list of [name in the message, type, name in SQL]), default (the order
    without the setting: names of fields).
    Returns {known, order}: known with the fields that the order needs added, and for each field of
    the order its name, and text and number as expressions. -#}
{%- macro _message_fields(entity, known, default) -%}
    {%- set fields = known | list -%}
    {%- set names = {} -%}
    {%- for name, type, column in known -%}{%- do names.update({name: column}) -%}{%- endfor -%}
    {%- set order = [] -%}
    {%- for field in spark_cdc._message_order_names(entity, default) -%}
        {%- set path = (field | string).split('.') -%}
        {%- if path[0] not in names -%}
            {%- do names.update({path[0]: 'order_' ~ loop.index}) -%}
            {%- do fields.append([path[0], 'string', 'order_' ~ loop.index]) -%}
        {%- endif -%}
        {%- set text = names[path[0]] -%}
        {%- if path | length > 1 -%}
            {%- set text -%}get_json_object({{ text }}, {{ spark_cdc._literal('$.' ~ path[1:] | join('.')) }}){%- endset -%}
        {%- endif -%}
        {%- do order.append(spark_cdc._message_order_part(entity, field, text)) -%}
    {%- endfor -%}
    {{ return({'known': fields, 'order': order}) }}
{%- endmacro -%}


{#- A part of the order: a control column that was landed beside the message, else a field of it.
    Arguments: entity, field (name), text (expression of the field). Returns {name, text,
    number}. -#}
{%- macro _message_order_part(entity, field, text) -%}
    {%- set landed = spark_cdc._named_column(entity, field) -%}
    {%- if landed and landed.role == 'control' -%}
        {%- set text -%}coalesce(landed_row.{{ landed.sql }}, {{ text }}){%- endset -%}
    {%- endif -%}
    {{ return({'name': field, 'text': text, 'number': 'try_cast(' ~ text ~ ' as bigint)'}) }}
{%- endmacro -%}


{#- The setting order_fields as a list of names. -#}
{%- macro _message_order_names(entity, default=[]) -%}
    {%- set given = entity.events.get('order_fields') or default -%}
    {{ return(given.split(',') | map('trim') | list if given is string else given) }}
{%- endmacro -%}


{#- The messages with their fields as columns, and `unparsable`: what is no JSON object with fields
    of these types. A message is parsed by a generator, not in a projection: what filters or repeats
    the columns can't parse it again.
    Arguments: entity, landed, fields (list, as _message_fields() takes it).
    Returns a query. -#}
{%- macro _parsed_messages(entity, landed, fields) -%}
{%- set types = [] -%}
{%- for name, type, column in fields -%}{%- do types.append('`' ~ name.replace('`', '``') ~ '` ' ~ type) -%}{%- endfor -%}
select
    landed.message,
    landed.landed_row,
    document.*
from {{ landed }} as landed
    lateral view
    inline(array(from_json(
        {{ spark_cdc._json_document(entity, 'landed.message') }},
        {{ spark_cdc._literal((types + ['unparsable string']) | join(', ')) }},
        map('columnNameOfCorruptRecord', 'unparsable', {{ spark_cdc._json_limits() }})
    ))) document as {{ fields | map(attribute=2) | join(', ') }}, unparsable
{%- endmacro -%}


{#- What happened, from the code of a parsed message; a tombstone or an empty line is no message,
    and what is of another table does not count.
    Arguments: entity, codes (mapping of code to operation), code (expression), table (see
    _is_other_table()), control (a condition under which the message is of no row, whatever its
    code). Returns an expression: the operation, null where it is unknown. -#}
{%- macro _message_operation(entity, codes, code, table, control=none) -%}
case
    when coalesce(trim(message), '') = '' then 'control'
    when unparsable is not null or {{ spark_cdc._is_misread('message') }} then null
    when {{ spark_cdc._is_other_table(entity, table) }} then 'control'
    {%- if control %}
    when {{ control }} then 'control'
    {%- endif %}
    {%- for operation in codes.values() | unique %}
    {%- set names = codes.items() | selectattr(1, 'equalto', operation) | map(attribute=0) %}
    when {{ code }} in ({{ spark_cdc._literals(names) }}) then '{{ operation }}'
    {%- endfor %}
end
{%- endmacro -%}


{#- The first cases of what is wrong with a message: it can't be read.
    Arguments: tool (who writes such messages), accepted (text). -#}
{%- macro _unreadable_message_cases(tool, accepted='one message a line') -%}
when event_op = 'control' then null
when unparsable is not null then {{ spark_cdc._literal('not a JSON object of ' ~ tool ~ '; accepted is ' ~ accepted) }}
when event_op is null and {{ spark_cdc._is_misread('message') }}
    then {{ spark_cdc._misread_text('message') }}
{%- endmacro -%}


{#- The next case: its operation is unknown.
    Arguments: label (text expression: which field holds it), code (expression), codes (those that
    are accepted). -#}
{%- macro _unknown_message_case(label, code, codes) -%}
when event_op is null
    then concat(
        'unknown ', {{ label }}, ' ', coalesce({{ spark_cdc._shown(code) }}, 'null'),
        {{ spark_cdc._literal('; accepted are ' ~ codes | join(', ')) }}
    )
{%- endmacro -%}


{#- The position of a message: null where a part is, and for control messages. -#}
{%- macro _message_position(parts) -%}
if(
    event_op = 'control' or {{ parts | join(' is null or ') }} is null,
    null,
    array({{ parts | join(', ') }})
)
{%- endmacro -%}


{#- What is wrong with a message's order, in words; null if each part is there.
    Arguments: order (of _message_fields()), parts (the number of each), accepted (text). Returns an
    expression. -#}
{%- macro _message_order_problem(order, parts, accepted) -%}
{%- set problems = [] -%}
{%- for field in order -%}
    {%- set problem -%}
if(
    {{ parts[loop.index0] }} is null,
    concat(
        {{ spark_cdc._literal('no order: ' ~ field.name ~ ' is ') }}, coalesce({{ spark_cdc._shown(field.text) }}, 'missing'),
        {{ spark_cdc._literal('; accepted is ' ~ accepted) }}
    ),
    null
)
    {%- endset -%}
    {%- do problems.append(problem) -%}
{%- endfor -%}
{%- if problems | length == 1 -%}
{{ problems[0] }}
{%- else -%}
coalesce(
    {{ problems | join(',\n') | indent(4) }}
)
{%- endif -%}
{%- endmacro -%}


{#- The name that the files of a binlog share, without their numbers: another one says that they are
    numbered anew. -#}
{%- macro _binlog_name(file) -%}
left({{ file }}, length({{ file }}) - length(substring_index({{ file }}, '.', -1)) - 1)
{%- endmacro -%}


{#- What happened, from a column that holds a code for it. The code '' stands for nothing: null or
    an empty text.
    Arguments: sql (the column, of any type), codes (mapping of code, a text, to operation). Returns
    an expression: the operation, or null where the code is unknown. -#}
{%- macro _coded_operation(sql, codes) -%}
case coalesce(cast({{ sql }} as string), '')
    {%- for code, operation in codes.items() %}
    when {{ spark_cdc._literal(code) }} then {{ spark_cdc._literal(operation) }}
    {%- endfor %}
end
{%- endmacro -%}


{#- What is wrong with the code in the column of a name, in words; null if nothing is. -#}
{%- macro _coded_operation_problem(name, sql, codes) -%}
{% set accepted %} in {{ name }}; accepted are {{ codes | map('default', 'nothing', true) | join(', ') }}{% endset -%}
if(
    coalesce(cast({{ sql }} as string), '') in ({{ spark_cdc._literals(codes) }}), null,
    concat('unknown operation ', coalesce({{ spark_cdc._shown(sql) }}, 'null'), {{ spark_cdc._literal(accepted) }})
)
{%- endmacro -%}


{#- Places in the logs of the databases that Debezium reads, as arrays of numbers that sort: null
    where there is none. A number below zero is none: it overflowed somewhere, and would sort
    first. -#}


{#- PostgreSQL: where the last transaction before this one was committed, and the place in the log.
    The former is null in a snapshot and in the first transaction after it, which begin behind all
    that was committed before. -#}
{%- macro _debezium_position_postgresql(sequence, lsn, is_placed) -%}
{%- set place -%}
{{ spark_cdc._place_in_log('coalesce(' ~ lsn ~ ", try_cast(split_part(" ~ sequence ~ ", '\"', -2) as bigint))") }}
{%- endset -%}
{#- split_part() splits by a regular expression, substring_index() does not -#}
{%- set first -%}
if(startswith({{ sequence }}, '["'), substring_index(substring({{ sequence }}, 3), '"', 1), split_part({{ sequence }}, '"', 2))
{%- endset -%}
if(
    {{ place }} is null, null,
    array(coalesce(if({{ sequence }} like '[null%', null, {{ spark_cdc._place_in_log('try_cast(' ~ first ~ ' as bigint)') }}), {{ place }}), {{ place }}{# -#}
    {{ ' - if(' ~ is_placed ~ ', 1L, 0L)' }})
)
{%- endmacro -%}


{#- Whether a row of a snapshot says where in the log it was read, so that it is an upsert just
    before the change there: the connector sends a row that it read before such a change with that
    change's place. A first snapshot of PostgreSQL has none: transactions that began before it
    count.
    Arguments: of (mapping of the names of fields in `source` to expressions, without those that
    can't be there). -#}
{%- macro _debezium_position_is_placed(of) -%}
    {%- set conditions = [] -%}
    {%- if 'sequence' in of -%}
        {%- do conditions.extend([of.sequence ~ " like '[\"%'", "%s = 'incremental' and (%s is not null or %s is not null)" | format(of.snapshot, of.sequence, of.lsn)]) -%}
    {%- endif -%}
    {%- if 'file' in of -%}
        {%- do conditions.append("try_cast(substring_index(%s, '.', -1) as bigint) is not null and %s > 0" | format(of.file, of.pos)) -%}
    {%- endif -%}
    {%- if 'commit_lsn' in of -%}
        {%- do conditions.append(of.commit_lsn ~ ' rlike ' ~ spark_cdc._debezium_position_lsn()) -%}
    {%- endif -%}
coalesce({{ conditions | join(' or ') }}, false)
{%- endmacro -%}


{#- What is wrong with a row of a snapshot that was read while changes were streamed, but does not
    say where. -#}
{%- macro _debezium_position_unplaced() -%}
    {{ return(spark_cdc._literal(
        'a row of an incremental snapshot without a place among the changes; accepted are source.sequence or source.lsn (PostgreSQL), source.file and '
        'source.pos (MySQL, MariaDB), source.commit_lsn (SQL Server): add them, or load a full snapshot with its position (docs/snapshots.md)'
    )) }}
{%- endmacro -%}


{#- MySQL, MariaDB: number of the binlog file, place in it, row of the event there. -#}
{%- macro _debezium_position_mysql(file, pos, row, is_placed) -%}
{%- set number = spark_cdc._place_in_log('try_cast(substring_index(' ~ file ~ ", '.', -1) as bigint)") -%}
if(
    {{ number }} is null or {{ spark_cdc._place_in_log(pos) }} is null or {{ row }} < 0, null,
    array({{ number }}, {{ pos }}, if({{ is_placed }}, -1L, coalesce({{ row }}, 0L)))
)
{%- endmacro -%}


{#- SQL Server: the log's numbers of commit and change, three parts each, and the event's number
    among those of the change. Rows of a snapshot may have no change. -#}
{%- macro _debezium_position_sqlserver(commit_lsn, change_lsn, serial, is_placed) -%}
{%- set pattern = spark_cdc._debezium_position_lsn() -%}
case
    when {{ serial }} < 0 then null
    when {{ commit_lsn }} rlike {{ pattern }} and {{ change_lsn }} rlike {{ pattern }}
        then array(
            {{ spark_cdc._debezium_position_parts(commit_lsn) | indent(12) }},
            {{ spark_cdc._debezium_position_parts(change_lsn) | indent(12) }},
            if({{ is_placed }}, -1L, coalesce({{ serial }}, 0L))
        )
    when {{ is_placed }} and {{ commit_lsn }} rlike {{ pattern }}
        then array(
            {{ spark_cdc._debezium_position_parts(commit_lsn) | indent(12) }},
            0L, 0L, 0L, -1L
        )
end
{%- endmacro -%}


{%- macro _debezium_position_lsn() -%}'^[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,4}$'{%- endmacro -%}


{%- macro _debezium_position_parts(lsn) -%}
{%- for part in [1, 2, 3] -%}
try_cast(conv(split_part({{ lsn }}, ':', {{ part }}), 16, 10) as bigint)
{{- ',\n' if not loop.last }}
{%- endfor -%}
{%- endmacro -%}


{#- What gives the order in place of the database's log, of the setting order_fields: control
    columns that were landed beside the message, or fields of it.
    Arguments: entity, content (expression of the message).
    Returns a list of {name, text, number}, as _message_fields() has it. -#}
{%- macro _debezium_position_order(entity, content) -%}
    {%- set order = [] -%}
    {%- for field in spark_cdc._message_order_names(entity) -%}
        {%- set text -%}
get_json_object({{ content }}, if(is_enclosed, {{ spark_cdc._literal('$.payload.' ~ field) }}, {{ spark_cdc._literal('$.' ~ field) }}))
        {%- endset -%}
        {%- do order.append(spark_cdc._message_order_part(entity, field, text)) -%}
    {%- endfor -%}
    {{ return(order) }}
{%- endmacro -%}


{#- What is wrong with the numbers that give a place, as a case: one is below zero.
    Arguments: condition, fields (name: expression). -#}
{%- macro _debezium_position_case(condition, fields) -%}
{%- set found = [] -%}
{%- for name, sql in fields.items() -%}
    {%- do found.append('if(' ~ sql ~ ' < 0, concat(' ~ spark_cdc._literal(name ~ ' is ') ~ ', ' ~ sql ~ '), null)') -%}
{%- endfor -%}
when {{ condition }} and ({{ fields.values() | join(' < 0 or ') }} < 0)
    then concat(
        'no order: ', concat_ws(', ', {{ found | join(', ') }}),
        '; accepted is a place in the log, which is not negative, or another order: see docs/formats/debezium.md'
    )
{%- endmacro -%}


{#- A typed column as the time at which an event happened: an instant, whatever the session's time
    zone. What names no zone is in the entity's.
    Arguments: entity, column (dictionary, or none). Returns an expression. -#}
{%- macro _event_instant(entity, column) -%}
{%- if column is none -%}
cast(null as timestamp)
{%- elif column.data_type == 'timestamp' -%}
{{ column.sql }}
{%- elif column.data_type == 'string' -%}
{{ spark_cdc._cast_instant(column.sql, none, entity.timezone) }}
{%- else -%}
{#- a date or a timestamp_ntz as the instant when a clock in UTC shows it -#}
{%- set clock -%}
timestamp_micros({{ spark_cdc._order_parts([column])[0] }}{{ ' * 86400000000' if column.data_type == 'date' }})
{%- endset -%}
{{ clock if entity.timezone == 'UTC' else 'to_utc_timestamp(%s, %s)' | format(clock, spark_cdc._literal(entity.timezone)) }}
{%- endif -%}
{%- endmacro -%}


{#- Where an event is from: the names of its table and of the log that its position counts in. -#}


{#- The column event_origin, null for control messages.
    Arguments: table (expressions of the table's name, what qualifies it first), log (expression of
    the log's name, or none). Returns an expression. -#}
{%- macro _event_origin(table, log=none) -%}
if(
    event_op = 'control',
    null,
    named_struct(
        'source_table', {{ spark_cdc._event_origin_table(table) }},
        'source_log', {{ log or 'cast(null as string)' }}
    )
)
{%- endmacro -%}


{#- A table's name with what qualifies it; null where there is none. -#}
{%- macro _event_origin_table(table) -%}
{%- set parts = [] -%}
{%- for part in table -%}{%- do parts.append('nullif(' ~ part ~ ", '')") -%}{%- endfor -%}
{{ 'if(%s is null, null, concat_ws(\'.\', %s))' | format(parts[-1], parts | join(', ')) if parts | length > 1 else parts[0] }}
{%- endmacro -%}


{#- A number that says where something lies in a log; null where it is below zero: it overflowed
    somewhere, and would sort first. -#}
{%- macro _place_in_log(number) -%}nullif(greatest({{ number }}, -1L), -1L){%- endmacro -%}


{#- A map from an array of names and one of values, null where they do not fit together.
    Arguments: names, texts (expressions of array<string>). Returns an expression. -#}
{%- macro _named_values(names, texts) -%}
if({{ spark_cdc._is_named(names, texts) }}, map_from_arrays({{ names }}, {{ texts }}), null)
{%- endmacro -%}


{#- What is wrong with an array of names and one of values, in words; null if nothing is, or if both
    are null or empty. -#}
{%- macro _named_values_problem(names, texts, label) -%}
case
    when greatest(size({{ names }}), size({{ texts }}), 0) = 0 or {{ spark_cdc._is_named(names, texts) }} then null
    when greatest(size({{ names }}), 0) <> greatest(size({{ texts }}), 0)
        then concat(
            {{ spark_cdc._literal(label ~ ': ') }}, greatest(size({{ names }}), 0), ' names and ', greatest(size({{ texts }}), 0),
            ' values; accepted is one value for each name'
        )
    else concat({{ spark_cdc._literal(label ~ ': a name is there twice or is null: ') }}, array_join({{ names }}, ', ', 'null'))
end
{%- endmacro -%}


{%- macro _is_named(names, texts) -%}
coalesce(size({{ names }}) = size({{ texts }}) and size(array_distinct(array_compact({{ names }}))) = size({{ names }}), false)
{%- endmacro -%}


{#- The column that a setting names, whatever its case: one of the declared ones or one that the
    format adds. Returns its dictionary, or none. -#}
{%- macro _named_column(entity, name) -%}
    {{ return(spark_cdc._columns_by_name(entity.columns, [name]) | first | default(none)) }}
{%- endmacro -%}


{#- The key as it was before, of the setting old_key: a mapping of key column to the column with its
    old value. A part whose old value is null has not changed. Returns an expression of type
    map<string, string>: null where no old value is there. -#}
{%- macro _old_key_map(entity) -%}
{%- set old_texts = {} -%}
{%- for key in entity.key_columns -%}
    {%- for name, old in (entity.events.get('old_key') or {}).items() if name | lower == key.name | lower -%}
        {%- set text = spark_cdc._event_text(entity, spark_cdc._named_column(entity, old)) -%}
        {#- an empty field is null for every type but text -#}
        {%- do old_texts.update({key.name: text if key.data_type == 'string' else 'nullif(' ~ text ~ ", '')"}) -%}
    {%- endfor -%}
{%- endfor -%}
{%- if not old_texts -%}
cast(null as map<string, string>)
{%- else -%}
if(
    {{ old_texts.values() | join(' is null and ') }} is null, null,
    map(
        {%- for key in entity.key_columns -%}
        {%- set text = spark_cdc._event_text(entity, key) -%}
        {{ spark_cdc._literal(key.from) }}, {# -#}
        {% if key.name in old_texts %}coalesce({{ old_texts[key.name] }}, {{ text }}){% else %}{{ text }}{% endif %}{{ ', ' if not loop.last }}
        {%- endfor -%}
    )
)
{%- endif -%}
{%- endmacro -%}


{#- What is wrong with the setting old_key. Returns a list of texts. -#}
{%- macro _old_key_map_problems(entity) -%}
    {%- set problems = [] -%}
    {%- set old_key = entity.events.get('old_key') or {} -%}
    {%- if old_key is not mapping -%}
        {{ return(['events.old_key is not a mapping: write key column: column with its old value below it']) }}
    {%- endif -%}
    {%- set keys = entity.key_columns | map(attribute='name') | list -%}
    {%- for name, old in old_key.items() -%}
        {%- if name | string | lower not in keys | map('lower') | list -%}
            {%- do problems.append("events.old_key has '" ~ name ~ "', which is no key; accepted are " ~ keys | join(', ') ~ ': correct it') -%}
        {%- elif spark_cdc._named_column(entity, old) is none -%}
            {%- do problems.append("events.old_key names '" ~ old ~ "', which is no column: declare it with the role control") -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- A row as it was before an update: the new row, overlaid by the old values of what changed. Null
    without old values.
    Arguments: row, old (expressions of map<string, string>). Returns an expression. -#}
{%- macro _overlaid(row, old) -%}
map_concat(map_filter({{ row }}, (name, value) -> not map_contains_key({{ old }}, name)), {{ old }})
{%- endmacro -%}


{#- A case of what is wrong with an update: its old image names columns that the new one lacks, so
    that nothing says what became of them.
    Arguments: old, new (expressions of map<string, string>), old_name, new_name (what the message
    calls them), accepted (text). -#}
{%- macro _lost_columns_case(old, new, old_name, new_name, accepted) -%}
{%- set lost -%}array_except(map_keys({{ old }}), map_keys({{ new }})){%- endset -%}
when event_op = 'update' and size({{ lost }}) > 0
    then concat({{ spark_cdc._literal('in ' ~ old_name ~ ', but not in ' ~ new_name ~ ': ') }}, {# -#}
    array_join({{ lost }}, ', '), {{ spark_cdc._literal('; accepted is ' ~ accepted) }})
{%- endmacro -%}


{#- What is wrong with settings that name a column each, and with what gives an order.
    Arguments: entity, settings (names of settings), time (that of them which names a column of
    times), required (those that must be there).
    Returns a list of texts. -#}
{%- macro _adapter_column_problems(entity, settings, time, required=[]) -%}
    {%- set problems = [] -%}
    {%- for setting in settings -%}
        {%- set name = entity.events.get(setting) -%}
        {%- do problems.extend(spark_cdc._broken({
            'setting': setting, 'name': name, 'accepted': entity.columns | map(attribute='name') | join(', '),
        }, [
            (name is none and setting in required, 'events.%(setting)s is missing: name the column that holds it'),
            (name is not none and spark_cdc._named_column(entity, name) is none,
             "events.%(setting)s names '%(name)s', which is no column; accepted are %(accepted)s: "
             'correct it, or declare the column with the role control'),
        ])) -%}
    {%- endfor -%}
    {%- set column = spark_cdc._named_column(entity, entity.events.get(time)) or {} -%}
    {%- do problems.extend(spark_cdc._broken(dict(column, setting=time), [
        (column and column.data_type not in ['date', 'timestamp', 'timestamp_ntz', 'string'],
         "events.%(setting)s names '%(name)s', which is %(data_type)s; accepted are timestamp, timestamp_ntz, date and string: "
         'declare it as a timestamp, with an encoding if it holds numbers'),
    ])) -%}
    {{ return(problems) }}
{%- endmacro -%}
