{#- Change-event format `debezium`: envelopes of PostgreSQL, MySQL, MariaDB and SQL Server as JSON,
    with or without the embedded schema, as messages or as objects {key, value} of a topic dump.
    Each message is parsed once, as an array, so that its documents are counted by that: what is not
    one is parsed once more by itself, and so is what a topic dump wraps. The message key is read
    only for events whose key the message itself lacks. -#}
{%- macro _events_debezium(entity, landed) -%}
{%- set given = entity.events.get('database') -%}
{%- set content = 'coalesce(wrapped, landed_row.message)' -%}
{%- set order = spark_cdc._message_fields(entity, [], none, content).order -%}
{%- set envelope = spark_cdc._debezium_envelope() -%}
{%- set document = spark_cdc._json_document(entity, 'landed_row.message') -%}
{%- set places = spark_cdc._debezium_places('source.`%s`', 'source.%s', spark_cdc._debezium_databases(), "event_op = 'upsert'") -%}
{%- set parsed -%}
with counted as (
    select
        landed_row,
        message_key,
        {{ spark_cdc._debezium_parsed("concat('[', " ~ document ~ ", ']')", envelope, true) | indent(8) }} as documents
    from {{ landed }}
),

sent as (
    select
        landed_row,
        message_key,
        coalesce(size(documents) = 1 and documents[0] is not null, false) as is_one,
        if(
            size(documents) = 1 and documents[0] is not null,
            documents[0],
            {{ spark_cdc._debezium_parsed(document, envelope) | indent(12) }}
        ) as sent
    from counted
),

-- a topic dump wraps the message; kcat names it payload and writes it as text
dumped as (
    select
        *,
        coalesce(
            sent.value,
            if(sent.topic is not null and sent.payload is null, get_json_object(landed_row.message, '$.payload'), null)
        ) as wrapped
    from sent
),

unwrapped as (
    select
        *,
        {{ spark_cdc._debezium_parsed(spark_cdc._json_document(entity, 'wrapped'), envelope) | indent(8) }} as carried
    from dumped
),

parsed as (
    select
        landed_row,
        is_one,
        wrapped,
        coalesce(sent.key, message_key) as message_key,
        if(carried is null, sent.payload is not null, carried.payload is not null) as is_enclosed,
        {%- for name in envelope %}
        if(carried is null, if(sent.payload is null, sent.{{ name }}, sent.payload.{{ name }}), {# -#}
        if(carried.payload is null, carried.{{ name }}, carried.payload.{{ name }})) as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    from unwrapped
)
{%- endset -%}
{%- set table = ['source.db', 'source.`schema`', 'source.`table`'] -%}
{%- set database, position = spark_cdc._debezium_database(given), spark_cdc._debezium_position(places) -%}
{%- set accepted = 'accepted are Debezium envelopes with op, before, after and source' -%}
{%- set unreadable -%}
when op is null and json_object_keys({{ content }}) is null
    then concat('not a JSON object', {{ spark_cdc._over_lines_hint('landed_row.message') }}, ': ', left(landed_row.message, 200), '; {{ accepted }}')
when not is_one and {{ spark_cdc._misread_as_one('landed_row.message') }} or {{ spark_cdc._misread_surrogate('landed_row.message') }}
    then {{ spark_cdc._misread_text('landed_row.message') }}
when op is null
    then 'no operation: op is missing; {{ accepted }}, flattened messages have the format debezium_flat'
{%- endset -%}
{%- set faults -%}
when event_op in ('insert', 'update', 'upsert', 'read') and after is null
    then concat('no new row: after is missing or no JSON object, which op ', op, ' needs; accepted is an object')
when
    event_op in ('update', 'delete') and before is null and not contains({{ content }}, '"before":null')
    and get_json_object({{ content }}, if(is_enclosed, '$.payload.before', '$.before')) is not null
    then 'before is no JSON object; accepted is an object or null'
{{ spark_cdc._lost_columns_case('before', 'after', 'before', 'after', 'after with all columns of the row') }}
when event_op = 'delete' and old_row is null
    then 'the old key is missing: accepted are deletes with the key in before or in the message key'
when event_op = 'read' and source.snapshot = 'incremental'
    then {{ places.unplaced }}
{%- if not order %}
when event_op <> 'read' and {{ places.negative }}
    then {{ places.negative_text | indent(4) }}
{%- endif %}
{%- endset -%}
{#- MongoDB's rows are documents as text, which no setting makes columns of -#}
{%- set unknown_connector -%}
when source.connector = 'mongodb'
    then {{ spark_cdc._literal("unknown connector 'mongodb', whose rows are documents; accepted are postgresql, mysql, mariadb, sqlserver, or messages that "
        ~ 'ExtractNewDocumentState has flattened (format debezium_flat with events.order)') }}
{%- if not order %}
when event_op is not null and database is null
    then concat('unknown connector \'', source.connector, '\'; accepted are postgresql, mysql, mariadb, sqlserver, or set events.database')
{%- endif %}
{%- endset -%}
{{ spark_cdc.document_events(entity, landed, {
    'parsed': parsed, 'read': {'order': order},
    'table': table, 'log': "if(database = 'mysql', " ~ spark_cdc._binlog_name('source.file') ~ ', null)',
    'event_op': spark_cdc._debezium_operation(entity, content, table, places.is_placed),
    'code': 'op', 'label': "'operation'",
    'codes': {'c': 'insert', 'u': 'update', 'd': 'delete', 'r': 'read', 't': 'truncate', 'm': 'control'},
    'named': {'database': database, 'old_row': spark_cdc._debezium_old_row(entity)},
    'event_position': position,
    'transaction': spark_cdc._debezium_transaction(),
    'time': 'timestamp_micros(coalesce(source.ts_us, try_multiply(source.ts_ms, 1000L)))',
    'unreadable': unreadable,
    'first_faults': unknown_connector,
    'faults': faults,
    'after': 'after',
}) }}
{%- endmacro -%}


{#- Of which database's log a message is, where it is parsed. Argument: given (events.database). -#}
{%- macro _debezium_database(given) -%}
case
    when source.connector in ('postgresql', 'mysql', 'sqlserver') then source.connector
    when source.connector = 'mariadb' then 'mysql'
    {#- the setting stands in where the message does not name the database #}
    {{ "else '" ~ given ~ "'" if given else "when source.connector is null then 'postgresql'" }}
end
{%- endmacro -%}


{#- The place in it. Argument: places (of _debezium_places()). -#}
{%- macro _debezium_position(places) -%}
case database
    {%- for name, sql in places.positions.items() %}
    when '{{ name }}'
        then {{ sql | indent(8) }}
    {%- endfor %}
end
{%- endmacro -%}


{%- macro _debezium_transaction() -%}
case database
    when 'postgresql' then source.txid
    when 'mysql' then coalesce(source.gtid, transaction.id)
    when 'sqlserver' then source.commit_lsn
end
{%- endmacro -%}


{#- The messages of a load without those that a later message of the same key supersedes, as a
    query with the columns of the landing. It reads only key, position and operation. A message is
    left out if it inserts, updates or deletes a row, keeps the key, has a position of its own after
    all that was applied, is followed by another message of the key, and is no insert or delete in a
    transaction that has more messages of the key. All other messages pass.
    Arguments: entity, landed (as a format gets it, without landed_row), highest (the last
    position that was applied; none where nothing was). -#}
{%- macro _events_debezium_last(entity, landed, highest) -%}
{%- set places = spark_cdc._debezium_places('source.`%s`', 'source.%s', spark_cdc._debezium_databases(), 'false') -%}
{%- set fields, keys, is_moved = [], [], [] -%}
{%- for column in entity.key_columns -%}
    {%- set name = spark_cdc._quote(column.from) -%}
    {%- do fields.append(name ~ ': string') -%}
    {%- do keys.append('image.' ~ name) -%}
    {%- do is_moved.append('not before.' ~ name ~ ' <=> after.' ~ name) -%}
{%- endfor -%}
{%- set image, envelope = 'struct<' ~ fields | join(', ') ~ '>', spark_cdc._debezium_envelope() -%}
{%- set envelope = {'op': 'string', 'before': image, 'after': image, 'source': envelope.source, 'transaction': envelope.transaction} -%}
{%- set document = "concat('[', " ~ spark_cdc._json_document(entity, 'message') ~ ", ']')" -%}
{%- set landed_columns, beside = ['message', 'message_key'], entity.columns | selectattr('role', 'equalto', 'control') | list -%}
{%- for column in beside -%}{%- do landed_columns.append('cdc__beside_' ~ loop.index) -%}{%- endfor -%}
{%- set landed_columns = landed_columns | join(', ') -%}
with counted as (
    select
        message,
        message_key,
        {%- for column in beside %}
        {{ spark_cdc._quote(column.from) }} as cdc__beside_{{ loop.index }},
        {%- endfor %}
        {{ spark_cdc._debezium_parsed(document, envelope, true) | indent(8) }} as documents
    from {{ landed }}
),

sent as (
    select
        {{ landed_columns }},
        size(documents) as document_count,
        {%- for name in envelope %}
        if(documents[0].payload is null, documents[0].{{ name }}, documents[0].payload.{{ name }}) as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    from counted
),

named as (
    select
        *,
        if(op = 'd', before, after) as image,
        {{ spark_cdc._debezium_database(entity.events.get('database')) | indent(8) }} as database
    from sent
),

-- as short as can be, since all of this is shuffled with the message
placed as (
    select
        {{ landed_columns }},
        op in ('c', 'd') as begins_or_ends,
        {%- for key in keys %}
        {{ key }} as key_{{ loop.index }},
        {%- endfor %}
        xxhash64(source.db, source.`schema`, source.`table`, if(database = 'mysql', {{ spark_cdc._binlog_name('source.file') }}, null)) as origin,
        {{ spark_cdc._debezium_transaction() | indent(8) }} as transaction_id,
        coalesce(
            document_count = 1 and op in ('c', 'u', 'd') and {{ keys | join(' is not null and ') }} is not null
            and not (op = 'u' and before is not null and ({{ is_moved | join(' or ') }})),
            false
        ) as is_change,
        {{ spark_cdc._debezium_position(places) | indent(8) }} as position
    from named
),

followed as (
    select
        *,
        lead(place) over of_key as next_place,
        lag(place) over of_key as place_before,
        lead(transaction_id) over of_key as next_transaction,
        lag(transaction_id) over of_key as transaction_before
    from (
        select
            *,
            xxhash64(position) as place,
            {#- messages that pass have no neighbours #}
            if(
                is_change and not exists(position, part -> part is null)
                {%- if highest %} and concat(array(1L), position) > {{ spark_cdc._position_literal(highest) }}{% endif %},
                null, xxhash64(message)
            ) as apart
        from placed
    ) as judged
    window of_key as (
        partition by {% for key in keys %}key_{{ loop.index }}, {% endfor %}origin, apart
        order by position
    )
)

select
    message,
    message_key
    {%- for column in beside %},
    cdc__beside_{{ loop.index }} as {{ spark_cdc._quote(column.from) }}
    {%- endfor %}
from followed
where
    apart is not null
    or next_place is null
    or place = next_place
    or coalesce(place = place_before, false)
    or begins_or_ends and coalesce(transaction_id in (next_transaction, transaction_before), false)
{%- endmacro -%}


{%- macro _events_debezium_format() -%}
    {{ return({
        'shape': 'documents', 'settings': {'database': spark_cdc._debezium_databases() | list, 'order_fields': none, 'table': none},
        'images': ['before', 'after'], 'unavailable': '__debezium_unavailable_value', 'reads': 'log', 'finds_last': true,
        'position': 'it stands in source.lsn (PostgreSQL), source.file and source.pos (MySQL, MariaDB) or source.change_lsn (SQL Server)',
    }) }}
{%- endmacro -%}


{#- The fields of `source` that say where a change is from, with their types, by database. -#}
{%- macro _debezium_databases() -%}
    {{ return({
        'postgresql': {'sequence': 'string', 'lsn': 'bigint', 'txId': 'string'},
        'mysql': {'file': 'string', 'pos': 'bigint', 'row': 'bigint', 'gtid': 'string'},
        'sqlserver': {'commit_lsn': 'string', 'change_lsn': 'string', 'event_serial_no': 'bigint'},
    }) }}
{%- endmacro -%}


{#- The parts of an envelope, and of the messages without a row, that are read, with their types.
    What is of another type is null then. -#}
{%- macro _debezium_envelope() -%}
    {%- set source = {'connector': 'string', 'snapshot': 'string', 'ts_us': 'bigint', 'ts_ms': 'bigint'} -%}
    {%- for fields in spark_cdc._debezium_databases().values() -%}{%- do source.update(fields) -%}{%- endfor -%}
    {%- do source.update({'db': 'string', 'schema': 'string', 'table': 'string'}) -%}
    {%- set fields -%}
struct<{% for name, type in source.items() %}`{{ name }}`: {{ type }}{{ ', ' if not loop.last }}{% endfor %}>
    {%- endset -%}
    {{ return({
        'op': 'string', 'before': 'map<string, string>', 'after': 'map<string, string>', 'source': fields,
        'transaction': 'struct<id: string>', 'status': 'string',
    }) }}
{%- endmacro -%}


{#- JSON text, parsed: an envelope, or one below `payload`, or a message below `value`. All is null
    where the text is no JSON object. Arguments: sql (of the text), envelope (of
    _debezium_envelope()), in_array (whether the text is an array of them). -#}
{%- macro _debezium_parsed(sql, envelope, in_array=false) -%}
{%- set fields = [] -%}
{%- for name, type in envelope.items() -%}{%- do fields.append(name ~ ': ' ~ type) -%}{%- endfor -%}
{%- set type = 'struct<' ~ fields | join(', ') ~ ', payload: struct<' ~ fields | join(', ') ~ '>, key: string, value: string, topic: string>' -%}
from_json(
    {{ sql }},
    {{ spark_cdc._literal('array<' ~ type ~ '>' if in_array else type) }},
    map({{ spark_cdc._json_limits() }})
)
{%- endmacro -%}


{#- What happened; null where that is unknown. Without `op` a message is none of a row: a tombstone,
    a heartbeat, the begin or end of a transaction, or a change of a table's definition. They are
    known by having no other fields. -#}
{%- macro _debezium_operation(entity, content, table, is_placed) -%}
{%- set other = [
    'key', 'value', 'schema', 'payload', 'topic', 'partition', 'offset', 'timestamp', 'timestampType', 'tstype', 'ts', 'broker',
    'headers', 'source', 'ts_ms', 'ts_us', 'ts_ns', 'serverName', 'databaseName', 'schemaName', 'ddl', 'tableChanges',
] -%}
{%- set names -%}
json_object_keys(if(is_enclosed, get_json_object({{ content }}, '$.payload'), {{ content }}))
{%- endset -%}
case
    when {{ spark_cdc._is_other_table(entity, table) }} then 'control'
    when op = 'c' then 'insert'
    when op = 'u' then 'update'
    when op = 'd' then 'delete'
    when op = 'r' then if({{ is_placed }}, 'upsert', 'read')
    when op = 't' then 'truncate'
    when op = 'm' then 'control'
    when op is not null then null
    when coalesce(trim({{ content }}), '') in ('', 'null') or status in ('BEGIN', 'END') then 'control'
    when
        size({{ names }}) > 0 and (is_enclosed or get_json_object({{ content }}, '$.payload') is null)
        and size(array_except({{ names }}, array({{ spark_cdc._literals(other) }}))) = 0
        then 'control'
end
{%- endmacro -%}


{#- The old image or key. A delete whose image lacks the key takes it from the message key. An
    update never changes the message key (Debezium sends a delete and an insert then), so if the
    message key agrees with the new image, another key in `before` is one that was made up for a
    column that was not sent. -#}
{%- macro _debezium_old_row(entity) -%}
{%- set key -%}
transform(array(from_json(message_key, 'map<string, string>')), key -> if(key['payload'] like '{{ '{%' }}' and {# -#}
map_contains_key(key, 'schema'), from_json(key['payload'], 'map<string, string>'), key))
{%- endset -%}
{%- set missing, same, agreed = ['before is null'], [], [] -%}
{%- for column in entity.key_columns -%}
    {%- set name = '[' ~ spark_cdc._literal(column.from) ~ ']' -%}
    {%- do missing.append('before' ~ name ~ ' is null') -%}
    {%- do same.append('before' ~ name ~ ' <=> after' ~ name) -%}
    {%- do agreed.append('key' ~ name ~ ' = after' ~ name) -%}
{%- endfor -%}
case
    when op = 'd' and ({{ missing | join(' or ') }})
        then coalesce(transform(
            {{ key }},
            key -> if(before is null, key, map_concat(map_filter(before, (name, part) -> not map_contains_key(key, name)), key))
        )[0], before)
    {%- if same %}
    when op = 'u' and before is not null and not ({{ same | join(' and ') }})
        then transform(
            {{ key }},
            key -> if({{ agreed | join(' and ') }}, null, before)
        )[0]
    {%- endif %}
    when op in ('u', 'd') then before
end
{%- endmacro -%}


{#- Where the changes of Debezium are from, in the logs of the databases.
    A position is an array of numbers that sort, null where there is none: for PostgreSQL where the
    last transaction before this one was committed (null in a snapshot and in the first transaction
    after it, which begin behind all that was committed before), and the place in the log; for MySQL
    and MariaDB the number of the binlog file, place in it, row of the event there; for SQL Server
    the log's numbers of commit and change, three parts each, and the event's number among those of
    the change, where rows of a snapshot may have no change. A number below zero is none: it
    overflowed somewhere, and would sort first.
    A row of a snapshot is placed if it says where in the log it was read, so that it is an upsert
    just before the change there: the connector sends a row that it read before such a change with
    that change's place. A first snapshot of PostgreSQL has none: transactions that began before it
    count.
    Arguments: field (a field of `source` as an expression, with %s for its name), label (what the
    fields are called, with %s for the name), databases (names of those that it may be from), placed
    (condition of a row that is placed, where %s stands for what its place says).
    Returns {positions (expressions by database), is_placed (condition), negative (condition of a
    number that is below zero), negative_text (what is wrong then), unplaced (the same of a row of a
    snapshot that was read while changes were streamed, but does not say where)}. -#}
{%- macro _debezium_places(field, label, databases, placed) -%}
{%- set of, conditions, numbers, shown = {}, [], [], [] -%}
{%- for database, fields in spark_cdc._debezium_databases().items() -%}
    {%- for name, type in fields.items() -%}
        {%- do of.update({name: field.replace('%s', name)}) -%}
        {%- if type == 'bigint' and database in databases -%}
            {%- do numbers.append(of[name] ~ ' < 0') -%}
            {%- set words = spark_cdc._literal(label.replace('%s', name) ~ ' is ') -%}
            {%- do shown.append('if(' ~ of[name] ~ ' < 0, concat(' ~ words ~ ', ' ~ of[name] ~ '), null)') -%}
        {%- endif -%}
    {%- endfor -%}
{%- endfor -%}
{%- set lsn = "'^[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,4}$'" -%}
{%- for database, condition in {
    'postgresql': of.sequence ~ " like '[\"%' or " ~ field.replace('%s', 'snapshot') ~ " = 'incremental' and ("
        ~ of.sequence ~ ' is not null or ' ~ of.lsn ~ ' is not null)',
    'mysql': 'try_cast(substring_index(' ~ of.file ~ ", '.', -1) as bigint) is not null and " ~ of.pos ~ ' > 0',
    'sqlserver': of.commit_lsn ~ ' rlike ' ~ lsn,
}.items() if database in databases -%}
    {%- do conditions.append(condition) -%}
{%- endfor -%}
{%- set is_placed = 'coalesce(' ~ conditions | join(' or ') ~ ', false)' -%}
{%- set placed = placed.replace('%s', is_placed) -%}
{%- set place = spark_cdc._place_in_log('coalesce(' ~ of.lsn ~ ', try_cast(split_part(' ~ of.sequence ~ ", '\"', -2) as bigint))") -%}
{#- split_part() splits by a regular expression, substring_index() does not -#}
{%- set first -%}
try_cast(if({# -#}
startswith({{ of.sequence }}, '["'), substring_index(substring({{ of.sequence }}, 3), '"', 1), split_part({{ of.sequence }}, '"', 2){# -#}
) as bigint)
{%- endset -%}
{%- set postgresql -%}
if(
    {{ place }} is null, null,
    array(
        coalesce(if({{ of.sequence }} like '[null%', null, {{ spark_cdc._place_in_log(first) }}), {{ place }}),
        {{ place }} - if({{ placed }}, 1L, 0L)
    )
)
{%- endset -%}
{%- set number = spark_cdc._place_in_log('try_cast(substring_index(' ~ of.file ~ ", '.', -1) as bigint)") -%}
{%- set mysql -%}
if(
    {{ number }} is null or {{ spark_cdc._place_in_log(of.pos) }} is null or {{ of.row }} < 0, null,
    array({{ number }}, {{ of.pos }}, if({{ placed }}, -1L, coalesce({{ of.row }}, 0L)))
)
{%- endset -%}
{%- set parts = {} -%}
{%- for name in ['commit_lsn', 'change_lsn'] -%}
    {%- set part = 'try_cast(conv(split_part(' ~ of[name] ~ ", ':', %s), 16, 10) as bigint)" -%}
    {%- do parts.update({name: [part.replace('%s', '1'), part.replace('%s', '2'), part.replace('%s', '3')] | join(', ')}) -%}
{%- endfor -%}
{%- set sqlserver -%}
case
    when {{ of.event_serial_no }} < 0 then null
    when {{ of.commit_lsn }} rlike {{ lsn }} and {{ of.change_lsn }} rlike {{ lsn }}
        then array({{ parts.commit_lsn }}, {{ parts.change_lsn }}, if({{ placed }}, -1L, coalesce({{ of.event_serial_no }}, 0L)))
    when {{ placed }} and {{ of.commit_lsn }} rlike {{ lsn }} then array({{ parts.commit_lsn }}, 0L, 0L, 0L, -1L)
end
{%- endset -%}
{%- set text -%}
concat(
    'no order: ', concat_ws(', ', {{ shown | join(', ') }}),
    '; accepted is a place in the log, which is not negative, or another order: see docs/formats/debezium.md'
)
{%- endset -%}
    {{ return({
        'positions': {'postgresql': postgresql, 'mysql': mysql, 'sqlserver': sqlserver},
        'is_placed': is_placed,
        'negative': '(' ~ numbers | join(' or ') ~ ')', 'negative_text': text,
        'unplaced': spark_cdc._literal('a row of an incremental snapshot without a place among the changes; accepted are '
            ~ 'source.sequence or source.lsn (PostgreSQL), source.file and source.pos (MySQL, MariaDB), source.commit_lsn (SQL Server): '
            ~ 'add them, or load a full snapshot with its position (docs/snapshots.md)'),
    }) }}
{%- endmacro -%}
