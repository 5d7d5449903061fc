{#- Places in the logs of the databases that Debezium reads, as arrays of numbers that sort: null where there is none. -#}


{#- PostgreSQL: where the last transaction before this one was committed, and the place in the log. The former is null
    in a snapshot and in the first transaction after it, which begin behind all that was committed before. -#}
{%- macro _debezium_position_postgresql(sequence, lsn) -%}
{%- set place -%}
coalesce({{ lsn }}, try_cast(split_part({{ sequence }}, '"', -2) as bigint))
{%- endset -%}
{#- split_part() splits by a regular expression, substring_index() does not -#}
{%- set first -%}
if(startswith({{ sequence }}, '["'), substring_index(substring({{ sequence }}, 3), '"', 1), split_part({{ sequence }}, '"', 2))
{%- endset -%}
if(
    {{ place }} is null, null,
    array(coalesce(if({{ sequence }} like '[null%', null, try_cast({{ first }} as bigint)), {{ place }}), {{ place }})
)
{%- endmacro -%}


{#- What a row of a snapshot is: one that was read while changes were streamed has a place among them, where it says what was so. -#}
{%- macro _debezium_position_read(sequence) -%}
if({{ sequence }} like '["%', 'upsert', 'read')
{%- endmacro -%}


{#- MySQL, MariaDB: number of the binlog file, place in it, row of the event there. -#}
{%- macro _debezium_position_mysql(file, pos, row) -%}
{%- set number -%}
try_cast(substring_index({{ file }}, '.', -1) as bigint)
{%- endset -%}
if(
    {{ number }} is null or {{ pos }} is null, null,
    array({{ number }}, {{ pos }}, coalesce({{ row }}, 0L))
)
{%- endmacro -%}


{#- SQL Server: the log's numbers of commit and change, three parts each, and the event's number among those of the change.
    Rows of a snapshot have no change. -#}
{%- macro _debezium_position_sqlserver(commit_lsn, change_lsn, serial, is_read) -%}
{%- set pattern = "'^[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,8}:[0-9a-fA-F]{1,4}$'" -%}
case
    when {{ commit_lsn }} rlike {{ pattern }} and {{ change_lsn }} rlike {{ pattern }}
        then array(
            {{ spark_cdc._debezium_position_parts(commit_lsn) | indent(12) }},
            {{ spark_cdc._debezium_position_parts(change_lsn) | indent(12) }},
            coalesce({{ serial }}, 0L)
        )
    when {{ is_read }} and {{ commit_lsn }} rlike {{ pattern }}
        then array(
            {{ spark_cdc._debezium_position_parts(commit_lsn) | indent(12) }},
            0L, 0L, 0L, 0L
        )
end
{%- endmacro -%}


{%- macro _debezium_position_parts(lsn) -%}
{%- for part in [1, 2, 3] -%}
try_cast(conv(split_part({{ lsn }}, ':', {{ part }}), 16, 10) as bigint)
{{- ',\n' if not loop.last }}
{%- endfor -%}
{%- endmacro -%}
