{#- Change-event format `debezium_flat`: Debezium's new-record-state, rows with technical columns
    such as `__op`, of which only those are there that the connector was told to add. -#}
{%- macro _events_debezium_flat(entity, typed) -%}
{%- set is_placed = spark_cdc._debezium_flat_is_placed(entity) -%}
{%- set no_position -%}
{%- if entity.events.order -%}
no position: a column of events.order is null; accepted are rows with {{ entity.events.order | map(attribute='name') | join(', ') }}
{%- else -%}
no position: accepted are __source_sequence or __lsn (PostgreSQL), __source_file, __source_pos and __source_row (MySQL), {# -#}
__source_commit_lsn, __source_change_lsn and __source_event_serial_no (SQL Server), to be had by add.fields of the connector, {# -#}
or declared columns named in events.order
{%- endif -%}
{%- endset -%}
{%- set field, fields = spark_cdc._debezium_flat_field, spark_cdc._debezium_flat_fields(entity) -%}
{%- set table = [field('db'), field('schema'), field('table')] -%}
{%- set log = spark_cdc._binlog_name(field('file')) if 'file' in fields and not entity.events.order else none -%}
with ordered as (
    select
        *,
        {{ spark_cdc._debezium_flat_position(entity) | indent(8) }} as event_position
    from {{ typed }}
),

named as (
    select
        *,
        case
            when {{ spark_cdc._is_other_table(entity, table) }} then 'control'
            when lower(__deleted) = 'true' or __op = 'd' then 'delete'
            when __op is null then 'upsert'
            when __op = 'c' then 'insert'
            when __op = 'u' then 'update'
            when __op = 'r' then if({{ is_placed }}, 'upsert', 'read')
            when __op = 't' then 'truncate'
        end as event_op
    from ordered
)

select
    *,
    {{ spark_cdc._event_origin(table, log) | indent(4) }} as event_origin,
    coalesce(
    {%- for name in ['txId', 'gtid', 'commit_lsn'] if name in spark_cdc._debezium_flat_fields(entity) -%}
    {{ spark_cdc._debezium_flat_field(name) }}, {% endfor -%}
    __transaction_id) as event_transaction,
    timestamp_micros(coalesce(__source_ts_us, try_multiply(__source_ts_ms, 1000L))) as event_time,
    case
        when event_op = 'control' then null
        when __op not in ('c', 'u', 'd', 'r', 't')
            then concat('unknown operation \'', __op, '\' in __op; accepted are c, u, d, r, t')
        when lower(__deleted) not in ('true', 'false')
            then concat('unknown mark \'', __deleted, '\' in __deleted; accepted are true, false')
        when __op = 'r' and {{ spark_cdc._debezium_flat_field('snapshot') }} = 'incremental' and not {{ is_placed }}
            then {{ spark_cdc._debezium_position_unplaced() }}
        {%- if not entity.events.order %}
        {{ spark_cdc._debezium_position_case("coalesce(__op <> 'r', true)", spark_cdc._debezium_flat_numbers(entity)) | indent(8) }}
        {%- endif %}
        when event_position is null and coalesce(__op <> 'r', true)
            then {{ spark_cdc._literal(no_position) }}
    end as event_problem,
    cast(null as map<string, string>) as event_before
from named
{%- endmacro -%}


{%- macro _events_debezium_flat_format() -%}
    {{ return({'settings': {'database': ['postgresql', 'mysql', 'sqlserver'], 'table': none}, 'origin': true, 'unavailable': '__debezium_unavailable_value'}) }}
{%- endmacro -%}


{#- The technical columns: fields of the envelope, and fields of `source` with or without that word
    in their name. -#}
{%- macro _events_debezium_flat_columns(entity) -%}
    {%- set described = {
        '__op': 'string', '__deleted': 'string', '__ts_ms': 'bigint',
        '__source_ts_ms': 'bigint', '__source_ts_us': 'bigint', '__transaction_id': 'string',
    } -%}
    {%- for name in ['snapshot', 'db', 'schema', 'table'] -%}{%- do described.update(dict.fromkeys(['__' ~ name, '__source_' ~ name], 'string')) -%}{%- endfor -%}
    {%- for name, data_type in spark_cdc._debezium_flat_fields(entity).items() -%}
        {%- do described.update({'__' ~ name: data_type, '__source_' ~ name: data_type}) -%}
    {%- endfor -%}
    {%- set columns = [] -%}
    {%- for name, data_type in described.items() -%}
        {%- do columns.append({'name': name, 'data_type': data_type, 'required': false}) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- Fields of `source` that are read: those of one database, if the setting names it. -#}
{%- macro _debezium_flat_fields(entity) -%}
    {%- set fields = {
        'postgresql': {'sequence': 'string', 'lsn': 'bigint', 'txId': 'string'},
        'mysql': {'file': 'string', 'pos': 'bigint', 'row': 'bigint', 'gtid': 'string'},
        'sqlserver': {'commit_lsn': 'string', 'change_lsn': 'string', 'event_serial_no': 'bigint'},
    } -%}
    {%- set database = entity.events.get('database') -%}
    {{ return(fields.get(database, {}) if database else dict(dict(fields.postgresql, **fields.mysql), **fields.sqlserver)) }}
{%- endmacro -%}


{#- The fields of `source` that are numbers, as expressions by name. -#}
{%- macro _debezium_flat_numbers(entity) -%}
    {%- set numbers = {} -%}
    {%- for name, data_type in spark_cdc._debezium_flat_fields(entity).items() if data_type == 'bigint' -%}
        {%- do numbers.update({'__source_' ~ name: spark_cdc._debezium_flat_field(name)}) -%}
    {%- endfor -%}
    {{ return(numbers) }}
{%- endmacro -%}


{#- A field of `source`, under whichever of its names it came. -#}
{%- macro _debezium_flat_field(name) -%}
coalesce(__source_{{ name }}, __{{ name }})
{%- endmacro -%}


{#- Whether a row of a snapshot has a place among the changes; by a declared order only where it
    says that it was read among them. -#}
{%- macro _debezium_flat_is_placed(entity) -%}
{%- set field = spark_cdc._debezium_flat_field -%}
{%- if entity.events.order -%}
coalesce({{ field('snapshot') }} = 'incremental' and event_position is not null, false)
{%- else -%}
    {%- set place = {'snapshot': field('snapshot')} -%}
    {%- for name in spark_cdc._debezium_flat_fields(entity) -%}{%- do place.update({name: field(name)}) -%}{%- endfor -%}
{{ spark_cdc._debezium_position_is_placed(place) }}
{%- endif -%}
{%- endmacro -%}


{#- The declared order, else the place in the log of whichever database the row comes from. -#}
{%- macro _debezium_flat_position(entity) -%}
{%- set field = spark_cdc._debezium_flat_field -%}
{%- set database = entity.events.get('database') -%}
{%- set is_placed = "__op = 'r' and " ~ spark_cdc._debezium_flat_is_placed(entity) -%}
{%- set position_of = {
    'postgresql': spark_cdc._debezium_position_postgresql(field('sequence'), field('lsn'), is_placed),
    'mysql': spark_cdc._debezium_position_mysql(field('file'), field('pos'), field('row'), is_placed),
    'sqlserver': spark_cdc._debezium_position_sqlserver(
        field('commit_lsn'), field('change_lsn'), field('event_serial_no'), is_placed),
} -%}
{%- if entity.events.order -%}
if({{ spark_cdc._any_null(entity.events.order) }}, null, array({{ spark_cdc._order_parts(entity.events.order) | join(', ') }}))
{%- elif database -%}
{{ position_of[database] }}
{%- else -%}
coalesce(
    {{ position_of.values() | join(',\n') | indent(4) }}
)
{%- endif -%}
{%- endmacro -%}
