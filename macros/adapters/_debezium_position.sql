{#- Places in the logs of the databases that Debezium reads, as arrays of numbers that sort: null where there is none. A number below zero is none: it
    overflowed somewhere, and would sort first. -#}


{#- PostgreSQL: where the last transaction before this one was committed, and the place in the log. The former is null
    in a snapshot and in the first transaction after it, which begin behind all that was committed before. -#}
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


{#- Whether a row of a snapshot says where in the log it was read, so that it is an upsert just before the change there: the connector sends a row
    that it read before such a change with that change's place. A first snapshot of PostgreSQL has none: transactions that began before it count.
    Arguments: of (mapping of the names of fields in `source` to expressions, without those that can't be there). -#}
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


{#- What is wrong with a row of a snapshot that was read while changes were streamed, but does not say where. -#}
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


{#- SQL Server: the log's numbers of commit and change, three parts each, and the event's number among those of the change.
    Rows of a snapshot may have no change. -#}
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


{#- What gives the order in place of the database's log, of the setting order_fields: control columns that were landed beside the message, or fields
    of it. Arguments: entity, content (expression of the message). Returns a list of {name, text, number}, as _message_fields() has it. -#}
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


{#- What is wrong with the numbers that give a place, as a case: one is below zero. Arguments: condition, fields (name:
    expression). -#}
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
