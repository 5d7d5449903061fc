{#- Change-event format `debezium`: envelopes of PostgreSQL, MySQL, MariaDB and SQL Server as JSON, with or without the
    embedded schema, as messages or as objects {key, value} of a topic dump. Each message is parsed once, and its
    documents are counted; a second time is parsed only what a topic dump wraps. The message key is read only for events whose key the message itself lacks.
    Arguments: entity, landed (relation with message, message_key and landed_row). Returns a query with the columns of the
    canonical event. -#}
{%- macro _events_debezium(entity, landed) -%}
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
        {%- for field in spark_cdc._debezium_fields() %}
        {{ spark_cdc._debezium_field(field.name) }} as {{ field.name }}{{ ',' if not loop.last }}
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
        {{ spark_cdc._debezium_operation() | indent(8) }} as event_op,
        {{ spark_cdc._debezium_database(entity) | indent(8) }} as database,
        {{ spark_cdc._debezium_before(entity) | indent(8) }} as event_before,
        if(op in ('c', 'u', 'r'), after, null) as event_after
    from opened
)

select
    event_op,
    case database
        when 'postgresql'
            then {{ spark_cdc._debezium_postgresql_position('source.sequence', 'source.lsn') | indent(12) }}
        when 'mysql'
            then {{ spark_cdc._debezium_mysql_position('source.file', 'source.pos', 'source.`row`') | indent(12) }}
        when 'sqlserver'
            then {{ spark_cdc._debezium_sqlserver_position(
                'source.commit_lsn', 'source.change_lsn', 'source.event_serial_no', "event_op = 'read'") | indent(12) }}
    end as event_position,
    case database
        when 'postgresql' then source.txid
        when 'mysql' then coalesce(source.gtid, transaction.id)
        when 'sqlserver' then source.commit_lsn
    end as event_transaction,
    {{ spark_cdc._debezium_time('source.ts_us', 'source.ts_ms') }} as event_time,
    {{ spark_cdc._debezium_problem() | indent(4) }} as event_problem,
    event_before,
    event_after,
    landed_row
from classified
{%- endmacro -%}


{#- The settings that only this format has. -#}
{%- macro _events_debezium_settings() -%}
    {{ return({'database': ['postgresql', 'mysql', 'sqlserver']}) }}
{%- endmacro -%}


{#- The parts of an envelope, and of the messages without a row, that are read. What is of another type is null then. -#}
{%- macro _debezium_fields() -%}
    {{ return([
        {'name': 'op', 'data_type': 'string'},
        {'name': 'before', 'data_type': 'map<string, string>'},
        {'name': 'after', 'data_type': 'map<string, string>'},
        {'name': 'source', 'data_type': 'struct<connector: string, ts_us: bigint, ts_ms: bigint, sequence: string, lsn: bigint, '
            ~ 'txId: string, file: string, pos: bigint, `row`: bigint, gtid: string, commit_lsn: string, change_lsn: string, '
            ~ 'event_serial_no: bigint>'},
        {'name': 'transaction', 'data_type': 'struct<id: string>'},
        {'name': 'status', 'data_type': 'string'},
    ]) }}
{%- endmacro -%}


{#- JSON text, parsed: an envelope, or one below `payload`, or a message below `value`. All is null where the text is no JSON
    object. -#}
{%- macro _debezium_parsed(sql) -%}
    {%- set fields = [] -%}
    {%- for field in spark_cdc._debezium_fields() -%}{%- do fields.append(field.name ~ ' ' ~ field.data_type) -%}{%- endfor -%}
    {%- set nested = [] -%}
    {%- for field in spark_cdc._debezium_fields() -%}{%- do nested.append(field.name ~ ': ' ~ field.data_type) -%}{%- endfor -%}
    {{ return("from_json(\n    " ~ sql ~ ",\n    '" ~ (fields + [
        'payload struct<' ~ nested | join(', ') ~ '>', 'key string', 'value string', 'topic string',
    ]) | join(', ') ~ "'\n)") }}
{%- endmacro -%}


{#- A part of the envelope, which may stand below `payload`: of what was sent, or of what that wraps. -#}
{%- macro _debezium_field(name) -%}
    {{ return('if(carried is null, if(sent.payload is null, sent.' ~ name ~ ', sent.payload.' ~ name
        ~ '), if(carried.payload is null, carried.' ~ name ~ ', carried.payload.' ~ name ~ '))') }}
{%- endmacro -%}


{#- What happened; null where that is unknown. Without `op` a message is none of a row: a tombstone, a heartbeat, the begin
    or end of a transaction, or a change of a table's definition. They are known by having no other fields. -#}
{%- macro _debezium_operation() -%}
    {%- set other = [
        'key', 'value', 'schema', 'payload', 'topic', 'partition', 'offset', 'timestamp', 'timestampType', 'tstype', 'ts', 'broker',
        'headers', 'source', 'ts_ms', 'ts_us', 'ts_ns', 'serverName', 'databaseName', 'schemaName', 'ddl', 'tableChanges',
    ] -%}
    {%- set content = spark_cdc._debezium_content() -%}
    {%- set names = 'json_object_keys(if(is_enclosed, get_json_object(' ~ content ~ ", '$.payload'), " ~ content ~ '))' -%}
    {{ return(
        "case\n"
        ~ "    when op = 'c' then 'insert'\n"
        ~ "    when op = 'u' then 'update'\n"
        ~ "    when op = 'd' then 'delete'\n"
        ~ "    when op = 'r' then 'read'\n"
        ~ "    when op = 't' then 'truncate'\n"
        ~ "    when op = 'm' then 'control'\n"
        ~ "    when op is not null then null\n"
        ~ "    when coalesce(trim(" ~ content ~ "), '') in ('', 'null') or status in ('BEGIN', 'END') then 'control'\n"
        ~ "    when\n"
        ~ "        size(" ~ names ~ ") > 0 and (is_enclosed or get_json_object(" ~ content ~ ", '$.payload') is null)\n"
        ~ "        and size(array_except(" ~ names ~ ", array('" ~ other | join("', '") ~ "'))) = 0\n"
        ~ "        then 'control'\n"
        ~ "end"
    ) }}
{%- endmacro -%}


{#- The message as text, taken out of what wraps it. -#}
{%- macro _debezium_content() -%}{{ return('coalesce(wrapped, landed_row.message)') }}{%- endmacro -%}


{#- By which database's rules the position is read: the message says, the setting stands in where it does not. -#}
{%- macro _debezium_database(entity) -%}
    {%- set given = entity.events.get('database') -%}
    {{ return(
        "case\n"
        ~ "    when source.connector in ('postgresql', 'mysql', 'sqlserver') then source.connector\n"
        ~ "    when source.connector = 'mariadb' then 'mysql'\n"
        ~ ("    else '" ~ given ~ "'\n" if given else "    when source.connector is null then 'postgresql'\n")
        ~ "end"
    ) }}
{%- endmacro -%}


{#- The old image or key. A delete whose image lacks the key takes it from the message key. An update never changes the
    message key (Debezium sends a delete and an insert then), so if the message key agrees with the new image, another key
    in `before` is one that was made up for a column that was not sent. -#}
{%- macro _debezium_before(entity) -%}
    {%- set lacks = ['before is null'] -%}
    {%- set same = [] -%}
    {%- set agrees = [] -%}
    {%- for column in entity.key_columns -%}
        {%- set name = spark_cdc._literal(column.from) -%}
        {%- do lacks.append('before[' ~ name ~ '] is null') -%}
        {%- do same.append('before[' ~ name ~ '] <=> after[' ~ name ~ ']') -%}
        {%- do agrees.append('key[' ~ name ~ '] = after[' ~ name ~ ']') -%}
    {%- endfor -%}
    {%- set key = 'transform(array(from_json(message_key, \'map<string, string>\')), key -> if(key[\'payload\'] like \'{%\' and '
            ~ "map_contains_key(key, 'schema'), from_json(key['payload'], 'map<string, string>'), key))" -%}
    {%- set completed = 'if(before is null, key, map_concat(map_filter(before, (name, part) -> not map_contains_key(key, name)), key))' -%}
    {{ return(
        "case\n"
        ~ "    when op = 'd' and (" ~ lacks | join(' or ') ~ ')\n'
        ~ '        then coalesce(transform(\n            ' ~ key ~ ',\n            key -> ' ~ completed ~ '\n        )[0], before)\n'
        ~ ("    when op = 'u' and before is not null and not (" ~ same | join(' and ') ~ ')\n'
           ~ '        then transform(\n            ' ~ key ~ ',\n            key -> if(' ~ agrees | join(' and ') ~ ', null, before)\n        )[0]\n'
           if same else '')
        ~ "    when op in ('u', 'd') then before\n"
        ~ "end"
    ) }}
{%- endmacro -%}


{#- PostgreSQL: where the last transaction before this one was committed, and the place in the log. The former is null
    in a snapshot and in the first transaction after it, which begin behind all that was committed before. -#}
{%- macro _debezium_postgresql_position(sequence, lsn) -%}
    {%- set place = 'coalesce(' ~ lsn ~ ', try_cast(split_part(' ~ sequence ~ ", '\"', -2) as bigint))" -%}
    {#- split_part() splits by a regular expression, substring_index() does not -#}
    {%- set first = 'if(startswith(' ~ sequence ~ ", '[\"'), substring_index(substring(" ~ sequence ~ ", 3), '\"', 1), split_part(" ~ sequence ~ ", '\"', 2))" -%}
    {%- set committed = 'if(' ~ sequence ~ " like '[null%', null, try_cast(" ~ first ~ ' as bigint))' -%}
    {{ return('if(\n    ' ~ place ~ ' is null, null,\n    array(coalesce(' ~ committed ~ ', ' ~ place ~ '), ' ~ place ~ ')\n)') }}
{%- endmacro -%}


{#- MySQL, MariaDB: number of the binlog file, place in it, row of the event there. -#}
{%- macro _debezium_mysql_position(file, pos, row) -%}
    {%- set number = 'try_cast(substring_index(' ~ file ~ ", '.', -1) as bigint)" -%}
    {{ return('if(\n    ' ~ number ~ ' is null or ' ~ pos ~ ' is null, null,\n    array(' ~ number ~ ', ' ~ pos ~ ', coalesce('
        ~ row ~ ', 0L))\n)') }}
{%- endmacro -%}


{#- SQL Server: the log's numbers of commit and change, three parts each, and the event's number among those of the change.
    Rows of a snapshot have no change. -#}
{%- macro _debezium_sqlserver_position(commit_lsn, change_lsn, serial, is_read) -%}
    {%- set pattern = "'^[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,4}$'" -%}
    {%- set commit = [] -%}
    {%- set change = [] -%}
    {%- for part in [1, 2, 3] -%}
        {%- do commit.append("try_cast(conv(split_part(" ~ commit_lsn ~ ", ':', " ~ part ~ '), 16, 10) as bigint)') -%}
        {%- do change.append("try_cast(conv(split_part(" ~ change_lsn ~ ", ':', " ~ part ~ '), 16, 10) as bigint)') -%}
    {%- endfor -%}
    {{ return(
        'case\n'
        ~ '    when ' ~ commit_lsn ~ ' rlike ' ~ pattern ~ ' and ' ~ change_lsn ~ ' rlike ' ~ pattern ~ '\n        then array(\n            '
        ~ (commit + change) | join(',\n            ') ~ ',\n            coalesce(' ~ serial ~ ', 0L)\n        )\n'
        ~ '    when ' ~ is_read ~ ' and ' ~ commit_lsn ~ ' rlike ' ~ pattern ~ '\n        then array(\n            '
        ~ commit | join(',\n            ') ~ ',\n            0L, 0L, 0L, 0L\n        )\n'
        ~ 'end'
    ) }}
{%- endmacro -%}


{#- When it happened, of microseconds or milliseconds since 1970. -#}
{%- macro _debezium_time(micros, millis) -%}
    {{ return('timestamp_micros(coalesce(' ~ micros ~ ', try_multiply(' ~ millis ~ ', 1000L)))') }}
{%- endmacro -%}


{#- What is wrong with a message, in words. -#}
{%- macro _debezium_problem() -%}
    {%- set content = spark_cdc._debezium_content() -%}
    {%- set accepted = "accepted are Debezium envelopes with op, before, after and source" -%}
    {{ return(
        "case\n"
        ~ "    when event_op = 'control' then null\n"
        ~ "    when op is null and json_object_keys(" ~ content ~ ") is null\n"
        ~ "        then concat('not a JSON object: ', left(landed_row.message, 200), '; " ~ accepted ~ "')\n"
        ~ "    when " ~ spark_cdc._is_several_documents('landed_row.message') ~ "\n"
        ~ "        then " ~ spark_cdc._literal(spark_cdc._several_documents_text()) ~ "\n"
        ~ "    when op is null\n"
        ~ "        then 'no operation: op is missing; " ~ accepted ~ ", flattened messages have the format debezium_flat'\n"
        ~ "    when event_op is null\n"
        ~ "        then concat('unknown operation \\'', op, '\\'; accepted are c, u, d, r, t, m')\n"
        ~ "    when event_op in ('insert', 'update', 'read') and event_after is null\n"
        ~ "        then concat('no new row: after is missing or no JSON object, which op ', op, ' needs; accepted is an object')\n"
        ~ "    when\n        event_op in ('update', 'delete') and before is null and not contains(" ~ content ~ ", '\"before\":null')\n"
        ~ "        and get_json_object(" ~ content ~ ", if(is_enclosed, '$.payload.before', '$.before')) is not null\n"
        ~ "        then 'before is no JSON object; accepted is an object or null'\n"
        ~ "    when event_op = 'delete' and event_before is null\n"
        ~ "        then 'the old key is missing: accepted are deletes with the key in before or in the message key'\n"
        ~ "    when database is null\n"
        ~ "        then concat('unknown connector \\'', source.connector, '\\'; accepted are postgresql, mysql, mariadb, "
        ~ "sqlserver, or set events.database')\n"
        ~ "end"
    ) }}
{%- endmacro -%}
