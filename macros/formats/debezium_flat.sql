{#- Change-event format `debezium_flat`: Debezium's new-record-state, rows with technical columns
    such as `__op`, of which only those are there that the connector was told to add. Fields of
    `source` come with or without that word in their name. -#}
{%- macro _events_debezium_flat(entity, typed) -%}
{%- set field, order, given = 'coalesce(__source_%s, __%s)', entity.events.order, entity.events.get('database') -%}
{%- set databases = [given] if given else spark_cdc._debezium_databases() | list -%}
{%- set fields = {} -%}
{%- for database in databases -%}{%- do fields.update(spark_cdc._debezium_databases()[database]) -%}{%- endfor -%}
{%- set transaction = [] -%}
{%- for name in ['txId', 'gtid', 'commit_lsn'] if name in fields -%}{%- do transaction.append(field.replace('%s', name)) -%}{%- endfor -%}
{%- set table = [field.replace('%s', 'db'), field.replace('%s', 'schema'), field.replace('%s', 'table')] -%}

{%- set is_incremental = field.replace('%s', 'snapshot') ~ " = 'incremental'" -%}
{%- set places = spark_cdc._debezium_places(field, '__source_%s', databases, "__op = 'r' and %s") -%}
{%- set is_placed = places.is_placed -%}
{%- if order -%}
    {#- only those rows have a place that say that they were read among changes -#}
    {%- set no_place = spark_cdc._any_null(order) -%}
    {%- set is_placed = 'coalesce(' ~ is_incremental ~ ' and not (' ~ no_place ~ '), false)' -%}
    {%- set position = 'if(' ~ no_place ~ ', null, array(' ~ spark_cdc._order_parts(order) | join(', ') ~ '))' -%}
    {%- set no_position = 'a column of events.order is null; accepted are rows with ' ~ order | map(attribute='name') | join(', ') -%}
{%- else -%}
    {%- set any_place = 'coalesce(\n    ' ~ places.positions.values() | join(',\n') | indent(4) ~ '\n)' -%}
    {%- set position = places.positions[given] if given else any_place -%}
    {%- set no_position = 'accepted are __source_sequence or __lsn (PostgreSQL), __source_file, __source_pos and __source_row (MySQL), '
        ~ '__source_commit_lsn, __source_change_lsn and __source_event_serial_no (SQL Server), to be had by add.fields of the connector, '
        ~ 'or declared columns named in events.order' -%}
{%- endif -%}
{%- set operation -%}
case
    when {{ spark_cdc._is_other_table(entity, table) }} then 'control'
    when lower(__deleted) = 'true' or __op = 'd' then 'delete'
    when __op is null then 'upsert'
    when __op = 'c' then 'insert'
    when __op = 'u' then 'update'
    when __op = 'r' then if({{ is_placed }}, 'upsert', 'read')
    when __op = 't' then 'truncate'
end
{%- endset -%}
{%- set problem -%}
case
    when event_op = 'control' then null
    when __op not in ('c', 'u', 'd', 'r', 't')
        then concat('unknown operation \'', __op, '\' in __op; accepted are c, u, d, r, t')
    when lower(__deleted) not in ('true', 'false')
        then concat('unknown mark \'', __deleted, '\' in __deleted; accepted are true, false')
    when __op = 'r' and {{ is_incremental }} and not {{ is_placed }}
        then {{ places.unplaced }}
    {%- if not order %}
    when coalesce(__op <> 'r', true) and {{ places.negative }}
        then {{ places.negative_text | indent(8) }}
    {%- endif %}
    when event_position is null and coalesce(__op <> 'r', true)
        then {{ spark_cdc._literal('no position: ' ~ no_position) }}
end
{%- endset -%}
{{ spark_cdc.row_events(entity, typed, {
    'event_op': operation,
    'opened': {'event_position': position},
    'transaction': 'coalesce(' ~ (transaction + ['__transaction_id']) | join(', ') ~ ')',
    'event_time': 'timestamp_micros(coalesce(__source_ts_us, try_multiply(__source_ts_ms, 1000L)))',
    'table': table,
    'log': spark_cdc._binlog_name(field.replace('%s', 'file')) if 'file' in fields and not order else none,
    'problems': [problem],
}) }}
{%- endmacro -%}


{%- macro _events_debezium_flat_format() -%}
    {%- set columns = [] -%}
    {%- for name, type in {
        '__op': 'string', '__deleted': 'string', '__ts_ms': 'bigint',
        '__source_ts_ms': 'bigint', '__source_ts_us': 'bigint', '__transaction_id': 'string',
    }.items() -%}
        {%- do columns.append({'name': name, 'data_type': type}) -%}
    {%- endfor -%}
    {%- set fields = {'': {'snapshot': 'string', 'db': 'string', 'schema': 'string', 'table': 'string'}} -%}
    {%- do fields.update(spark_cdc._debezium_databases()) -%}
    {%- for database, of in fields.items() -%}
        {%- for name, type in of.items() -%}
            {%- do columns.append({'name': '__' ~ name, 'data_type': type, 'database': database}) -%}
            {%- do columns.append({'name': '__source_' ~ name, 'data_type': type, 'database': database}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return({
        'shape': 'rows', 'settings': {'database': spark_cdc._debezium_databases() | list, 'table': none},
        'origin': true, 'unavailable': '__debezium_unavailable_value', 'reads': 'log', 'columns': columns,
    }) }}
{%- endmacro -%}
