{#- Change-event format `debezium`: envelopes of PostgreSQL, MySQL, MariaDB and SQL Server as JSON,
    with or without the embedded schema, as messages or as objects {key, value} of a topic dump.
    Each message is parsed once, and its documents are counted; a second time is parsed only what a
    topic dump wraps. The message key is read only for events whose key the message itself
    lacks. -#}
{%- macro _events_debezium(entity, landed) -%}
{%- set given = entity.events.get('database') -%}
{%- set order = spark_cdc._debezium_position_order(entity, spark_cdc._debezium_content()) -%}
{%- set parts = order | map(attribute='number') | list -%}
{%- set is_placed = "op = 'r' and event_op = 'upsert'" -%}
with parsed as (
    select
        landed_row,
        message_key,
        {{ spark_cdc._debezium_parsed(spark_cdc._json_document(entity, 'landed_row.message')) | indent(8) }} as sent
    from {{ landed }}
),

-- a topic dump wraps the message; kcat names it payload and writes it as text
dumped as (
    select
        *,
        coalesce(
            sent.value,
            if(sent.topic is not null and sent.payload is null, get_json_object(landed_row.message, '$.payload'), null)
        ) as wrapped
    from parsed
),

unwrapped as (
    select
        *,
        {{ spark_cdc._debezium_parsed(spark_cdc._json_document(entity, 'wrapped')) | indent(8) }} as carried
    from dumped
),

opened as (
    select
        landed_row,
        wrapped,
        coalesce(sent.key, message_key) as message_key,
        if(carried is null, sent.payload is not null, carried.payload is not null) as is_enclosed,
        {%- for name in spark_cdc._debezium_fields() %}
        if(carried is null, if(sent.payload is null, sent.{{ name }}, sent.payload.{{ name }}), {# -#}
        if(carried.payload is null, carried.{{ name }}, carried.payload.{{ name }})) as {{ name }}{{ ',' if not loop.last }}
        {%- endfor %}
    from unwrapped
),

classified as (
    select
        landed_row,
        wrapped,
        is_enclosed,
        op,
        before,
        source,
        transaction,
        {{ spark_cdc._debezium_operation(entity) | indent(8) }} as event_op,
        case
            when source.connector in ('postgresql', 'mysql', 'sqlserver') then source.connector
            when source.connector = 'mariadb' then 'mysql'
            {#- the setting stands in where the message does not name the database #}
            {{ "else '" ~ given ~ "'" if given else "when source.connector is null then 'postgresql'" }}
        end as database,
        {{ spark_cdc._debezium_before(entity) | indent(8) }} as event_before,
        if(op in ('c', 'u', 'r'), after, null) as event_after
    from opened
)

select
    event_op,
    {%- if order %}
    {{ spark_cdc._message_position(parts) | indent(4) }} as event_position,
    {%- else %}
    case database
        when 'postgresql'
            then {{ spark_cdc._debezium_position_postgresql('source.sequence', 'source.lsn', is_placed) | indent(12) }}
        when 'mysql'
            then {{ spark_cdc._debezium_position_mysql('source.file', 'source.pos', 'source.`row`', is_placed) | indent(12) }}
        when 'sqlserver'
            then {{ spark_cdc._debezium_position_sqlserver(
                'source.commit_lsn', 'source.change_lsn', 'source.event_serial_no', is_placed) | indent(12) }}
    end as event_position,
    {%- endif %}
    case database
        when 'postgresql' then source.txid
        when 'mysql' then coalesce(source.gtid, transaction.id)
        when 'sqlserver' then source.commit_lsn
    end as event_transaction,
    timestamp_micros(coalesce(source.ts_us, try_multiply(source.ts_ms, 1000L))) as event_time,
    {{ spark_cdc._debezium_problem(order) | indent(4) }} as event_problem,
    event_before,
    event_after,
    {{ spark_cdc._event_origin(
        spark_cdc._debezium_table(), "if(database = 'mysql', %s, null)" | format(spark_cdc._binlog_name('source.file'))
    ) | indent(4) }} as event_origin,
    landed_row
from classified
{%- endmacro -%}


{%- macro _events_debezium_format() -%}
    {{ return({
        'settings': {'database': ['postgresql', 'mysql', 'sqlserver'], 'order_fields': none, 'table': none}, 'has_order': true, 'landed_row': true,
        'origin': true,
        'images': ['before', 'after'], 'unavailable': '__debezium_unavailable_value',
        'position': 'it stands in source.lsn (PostgreSQL), source.file and source.pos (MySQL, MariaDB) or source.change_lsn (SQL Server)',
    }) }}
{%- endmacro -%}


{#- The parts of an envelope, and of the messages without a row, that are read, with their types.
    What is of another type is null then. -#}
{%- macro _debezium_fields() -%}
    {%- set source -%}
struct<connector: string, snapshot: string, ts_us: bigint, ts_ms: bigint, sequence: string, lsn: bigint, txId: string, file: string, pos: bigint, {# -#}
`row`: bigint, gtid: string, commit_lsn: string, change_lsn: string, event_serial_no: bigint, db: string, `schema`: string, `table`: string>
    {%- endset -%}
    {{ return({
        'op': 'string', 'before': 'map<string, string>', 'after': 'map<string, string>', 'source': source,
        'transaction': 'struct<id: string>', 'status': 'string',
    }) }}
{%- endmacro -%}


{#- The name of a message's table, what qualifies it first. -#}
{%- macro _debezium_table() -%}{{ return(['source.db', 'source.`schema`', 'source.`table`']) }}{%- endmacro -%}


{#- JSON text, parsed: an envelope, or one below `payload`, or a message below `value`. All is null
    where the text is no JSON object. -#}
{%- macro _debezium_parsed(sql) -%}
from_json(
    {{ sql }},
    '{% for name, data_type in spark_cdc._debezium_fields().items() %}{{ name }} {{ data_type }}, {% endfor -%}
    payload struct<
    {%- for name, data_type in spark_cdc._debezium_fields().items() %}{{ name }}: {{ data_type }}{{ ', ' if not loop.last }}{% endfor -%}
    >, key string, value string, topic string',
    map({{ spark_cdc._json_limits() }})
)
{%- endmacro -%}


{#- What happened; null where that is unknown. Without `op` a message is none of a row: a tombstone,
    a heartbeat, the begin or end of a transaction, or a change of a table's definition. They are
    known by having no other fields. -#}
{%- macro _debezium_operation(entity) -%}
{%- set other = [
    'key', 'value', 'schema', 'payload', 'topic', 'partition', 'offset', 'timestamp', 'timestampType', 'tstype', 'ts', 'broker',
    'headers', 'source', 'ts_ms', 'ts_us', 'ts_ns', 'serverName', 'databaseName', 'schemaName', 'ddl', 'tableChanges',
] -%}
{%- set place = {} -%}
{%- for name in ['snapshot', 'sequence', 'lsn', 'file', 'pos', 'commit_lsn'] -%}{%- do place.update({name: 'source.' ~ name}) -%}{%- endfor -%}
{%- set content = spark_cdc._debezium_content() -%}
{%- set names -%}
json_object_keys(if(is_enclosed, get_json_object({{ content }}, '$.payload'), {{ content }}))
{%- endset -%}
case
    when {{ spark_cdc._is_other_table(entity, spark_cdc._debezium_table()) }} then 'control'
    when op = 'c' then 'insert'
    when op = 'u' then 'update'
    when op = 'd' then 'delete'
    when op = 'r'
        then if(
            {{ spark_cdc._debezium_position_is_placed(place) }},
            'upsert', 'read'
        )
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


{#- The message as text, taken out of what wraps it. -#}
{%- macro _debezium_content() -%}coalesce(wrapped, landed_row.message){%- endmacro -%}


{#- The old image or key. A delete whose image lacks the key takes it from the message key. An
    update never changes the message key (Debezium sends a delete and an insert then), so if the
    message key agrees with the new image, another key in `before` is one that was made up for a
    column that was not sent. -#}
{%- macro _debezium_before(entity) -%}
{%- set names = [] -%}
{%- for column in entity.key_columns -%}{%- do names.append(spark_cdc._literal(column.from)) -%}{%- endfor -%}
{%- set key -%}
transform(array(from_json(message_key, 'map<string, string>')), key -> if(key['payload'] like '{{ '{%' }}' and {# -#}
map_contains_key(key, 'schema'), from_json(key['payload'], 'map<string, string>'), key))
{%- endset -%}
case
    when op = 'd' and (before is null{% for name in names %} or before[{{ name }}] is null{% endfor %})
        then coalesce(transform(
            {{ key }},
            key -> if(before is null, key, map_concat(map_filter(before, (name, part) -> not map_contains_key(key, name)), key))
        )[0], before)
    {%- if names %}
    when op = 'u' and before is not null and not ({# -#}
    {%- for name in names %}before[{{ name }}] <=> after[{{ name }}]{{ ' and ' if not loop.last }}{% endfor %})
        then transform(
            {{ key }},
            key -> if({% for name in names %}key[{{ name }}] = after[{{ name }}]{{ ' and ' if not loop.last }}{% endfor %}, null, before)
        )[0]
    {%- endif %}
    when op in ('u', 'd') then before
end
{%- endmacro -%}


{#- What is wrong with a message, in words. -#}
{%- macro _debezium_problem(order) -%}
{%- set content = spark_cdc._debezium_content() -%}
{%- set accepted = 'accepted are Debezium envelopes with op, before, after and source' -%}
case
    when event_op = 'control' then null
    when op is null and json_object_keys({{ content }}) is null
        then concat('not a JSON object: ', left(landed_row.message, 200), '; {{ accepted }}')
    when {{ spark_cdc._is_misread('landed_row.message') }}
        then {{ spark_cdc._misread_text('landed_row.message') }}
    when op is null
        then 'no operation: op is missing; {{ accepted }}, flattened messages have the format debezium_flat'
    when event_op is null
        then concat('unknown operation \'', op, '\'; accepted are c, u, d, r, t, m')
    when event_op in ('insert', 'update', 'upsert', 'read') and event_after is null
        then concat('no new row: after is missing or no JSON object, which op ', op, ' needs; accepted is an object')
    when
        event_op in ('update', 'delete') and before is null and not contains({{ content }}, '"before":null')
        and get_json_object({{ content }}, if(is_enclosed, '$.payload.before', '$.before')) is not null
        then 'before is no JSON object; accepted is an object or null'
    {{ spark_cdc._lost_columns_case('before', 'event_after', 'before', 'after', 'after with all columns of the row') | indent(4) }}
    when event_op = 'delete' and event_before is null
        then 'the old key is missing: accepted are deletes with the key in before or in the message key'
    when event_op = 'read' and source.snapshot = 'incremental'
        then {{ spark_cdc._debezium_position_unplaced() }}
    {%- if order %}
    when event_op <> 'read'
        then {{ spark_cdc._message_order_problem(order, order | map(attribute='number') | list, 'a whole number') | indent(12) }}
    {%- else %}
    {{ spark_cdc._debezium_position_case("event_op <> 'read'", {
        'source.lsn': 'source.lsn', 'source.pos': 'source.pos', 'source.row': 'source.`row`', 'source.event_serial_no': 'source.event_serial_no',
    }) | indent(4) }}
    when database is null
        then concat('unknown connector \'', source.connector, '\'; accepted are postgresql, mysql, mariadb, sqlserver, or set events.database')
    {%- endif %}
end
{%- endmacro -%}
