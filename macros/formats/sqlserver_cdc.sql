{#- Change-event format `sqlserver_cdc`: rows of the change tables of SQL Server (cdc.<capture
    instance>_CT) and of the functions on them, which leave out some of the technical columns. -#}
{%- macro _events_sqlserver_cdc(entity, typed) -%}
{%- set start_lsn = spark_cdc._named_column(entity, '__$start_lsn') -%}
{%- set seqval = spark_cdc._named_column(entity, '__$seqval') -%}
{%- set problems = [] -%}
{%- for column, hex in [(start_lsn, 'event_transaction'), (seqval, 'cdc__seqval')] -%}
    {%- set shown = column.sql if column.data_type == 'string' else 'hex(' ~ column.sql ~ ')' -%}
    {%- set problem -%}
if({{ column.sql }} is not null and {{ hex }} is null, concat({{ spark_cdc._literal(column.name ~ ' is ') }}, {# -#}
{{ spark_cdc._shown(shown) }}, '; accepted are 10 bytes: binary, 0x and 20 hexadecimal digits, or base64'), null)
    {%- endset -%}
    {%- do problems.append(problem) -%}
{%- endfor -%}
{{ spark_cdc.row_events(entity, typed, {
    'operation': '__$operation', 'shown': spark_cdc._raw(spark_cdc._named_column(entity, '__$operation')),
    'codes': {'1': 'delete', '2': 'insert', '3': 'delete', '4': 'update', '5': 'upsert'},
    'transaction': spark_cdc._lsn_hex(start_lsn),
    'opened': {'cdc__seqval': spark_cdc._lsn_hex(seqval)},
    'position': [
        'cast(conv(substring(event_transaction, 1, 8), 16, 10) as bigint)',
        'cast(conv(substring(event_transaction, 9, 12), 16, 10) as bigint)',
        'coalesce(cast(' ~ spark_cdc._named_column(entity, '__$command_id').sql ~ ' as bigint), 0L)',
        'coalesce(cast(conv(substring(cdc__seqval, 1, 8), 16, 10) as bigint), 0L)',
        'coalesce(cast(conv(substring(cdc__seqval, 9, 12), 16, 10) as bigint), 0L)',
    ],
    'halves': true,
    'problems': problems,
}) }}
{%- endmacro -%}


{%- macro _events_sqlserver_cdc_format() -%}
    {%- set bytes, integers = ['binary', 'string'], ['tinyint', 'smallint', 'int', 'bigint'] -%}
    {{ return({'shape': 'rows', 'settings': {'time': 'time'}, 'has_order': true, 'orders_halves': true, 'columns': [
        {'name': '__$start_lsn', 'data_type': 'binary', 'required': true, 'accepted': bytes},
        {'name': '__$end_lsn', 'data_type': 'binary'},
        {'name': '__$seqval', 'data_type': 'binary', 'accepted': bytes},
        {'name': '__$operation', 'data_type': 'int', 'required': true, 'accepted': integers},
        {'name': '__$update_mask', 'data_type': 'binary'},
        {'name': '__$command_id', 'data_type': 'int', 'accepted': integers},
    ]}) }}
{%- endmacro -%}


{#- A log sequence number, binary or as text, as 20 hexadecimal digits; null if it is none. As text
    it is 0x and 20 hexadecimal digits, the same without 0x or with colons, or base64. -#}
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
