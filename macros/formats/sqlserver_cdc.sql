{#- Change-event format `sqlserver_cdc`: rows of the change tables of SQL Server (cdc.<capture
    instance>_CT) and of the functions on them. Log sequence numbers are binary, or text: 0x and 20
    hexadecimal digits, the same without 0x or with colons, or base64. -#}
{%- macro _events_sqlserver_cdc(entity, typed) -%}
{%- set start_lsn = spark_cdc._named_column(entity, '__$start_lsn') -%}
{%- set seqval = spark_cdc._named_column(entity, '__$seqval') -%}
{%- set operation = spark_cdc._named_column(entity, '__$operation') -%}
{%- set codes = {'1': 'delete', '2': 'insert', '3': 'delete', '4': 'update', '5': 'upsert'} -%}
select
    *,
    {{ spark_cdc._coded_operation(operation.sql, codes) | indent(4) }} as event_op,
    array(
        cast(conv(substring(event_transaction, 1, 8), 16, 10) as bigint),
        cast(conv(substring(event_transaction, 9, 12), 16, 10) as bigint),
        coalesce(cast({{ spark_cdc._named_column(entity, '__$command_id').sql }} as bigint), 0L),
        coalesce(cast(conv(substring(event_seqval, 1, 8), 16, 10) as bigint), 0L),
        coalesce(cast(conv(substring(event_seqval, 9, 12), 16, 10) as bigint), 0L),
        if({{ operation.sql }} in (1, 3), 0L, 1L)
    ) as event_position,
    {{ spark_cdc._event_instant(entity, spark_cdc._named_column(entity, entity.events.get('time'))) }} as event_time,
    coalesce(
        {{ spark_cdc._coded_operation_problem(operation.name, spark_cdc._raw(operation), codes) | indent(8) }},
        {{ spark_cdc._lsn_problem(start_lsn, 'event_transaction') }},
        {{ spark_cdc._lsn_problem(seqval, 'event_seqval') }}
    ) as event_problem,
    cast(null as map<string, string>) as event_before
from (
    select
        *,
        {{ spark_cdc._lsn_hex(start_lsn) | indent(8) }} as event_transaction,
        {{ spark_cdc._lsn_hex(seqval) | indent(8) }} as event_seqval
    from {{ typed }}
) as parsed
{%- endmacro -%}


{#- The technical columns. The functions leave out some of them. -#}
{%- macro _events_sqlserver_cdc_columns(entity) -%}
    {%- set bytes = 'string' if entity.source.text else 'binary' -%}
    {{ return([
        {'name': '__$start_lsn', 'data_type': bytes, 'required': true},
        {'name': '__$end_lsn', 'data_type': bytes, 'required': false},
        {'name': '__$seqval', 'data_type': bytes, 'required': false},
        {'name': '__$operation', 'data_type': 'int', 'required': true},
        {'name': '__$update_mask', 'data_type': bytes, 'required': false},
        {'name': '__$command_id', 'data_type': 'int', 'required': false},
    ]) }}
{%- endmacro -%}


{%- macro _events_sqlserver_cdc_format() -%}
    {{ return({'settings': {'time': none}, 'has_order': true, 'orders_halves': true}) }}
{%- endmacro -%}


{%- macro _events_sqlserver_cdc_problems(entity) -%}
    {%- set problems = spark_cdc._adapter_column_problems(entity, ['time'], 'time') -%}
    {%- set bytes, integers = ['binary', 'string'], ['tinyint', 'smallint', 'int', 'bigint'] -%}
    {%- for name, accepted in [('__$start_lsn', bytes), ('__$seqval', bytes), ('__$operation', integers), ('__$command_id', integers)] -%}
        {%- set type = spark_cdc._named_column(entity, name).data_type -%}
        {%- do problems.extend(spark_cdc._broken({'name': name, 'type': type, 'accepted': accepted | join(', ')}, [
            (type not in accepted,
             "column '%(name)s' is declared %(type)s; accepted are %(accepted)s: correct it, or leave it out, since the format adds it"),
        ])) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- A log sequence number as 20 hexadecimal digits; null if it is none. -#}
{%- macro _lsn_hex(column) -%}
{%- set sql = column.sql -%}
{%- if column.data_type == 'binary' -%}
if(length({{ sql }}) = 10, hex({{ sql }}), null)
{%- else -%}
case
    when {{ sql }} rlike '^(0[xX])?[0-9a-fA-F]{20}$' then upper(right({{ sql }}, 20))
    when {{ sql }} rlike '^[0-9a-fA-F]{8}:[0-9a-fA-F]{8}:[0-9a-fA-F]{4}$' then upper(replace({{ sql }}, ':', ''))
    when {{ sql }} rlike '^[A-Za-z0-9+/]{14}==$' then hex(unbase64({{ sql }}))
end
{%- endif -%}
{%- endmacro -%}


{%- macro _lsn_problem(column, hex) -%}
{%- set shown = column.sql if column.data_type == 'string' else 'hex(' ~ column.sql ~ ')' -%}
if({{ column.sql }} is not null and {{ hex }} is null, concat({{ spark_cdc._literal(column.name ~ ' is ') }}, {# -#}
{{ spark_cdc._shown(shown) }}, '; accepted are 10 bytes: binary, 0x and 20 hexadecimal digits, or base64'), null)
{%- endmacro -%}
