{#- Where an event is from: the names of its table and of the log that its position counts in. -#}


{#- The column event_origin, null for control messages. Arguments: table (expressions of the table's name, what qualifies it first), log (expression
    of the log's name, or none). Returns an expression. -#}
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
