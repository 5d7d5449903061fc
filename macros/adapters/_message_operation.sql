{#- What happened, from the code of a parsed message (of _parsed_messages()). Arguments: codes (mapping of code to
    operation), code (expression), other_table (condition: whether the change is one of another table), first (list of
    [condition, operation] that count before the codes do). Returns an expression: the operation, null where it is
    unknown. -#}
{%- macro _message_operation(codes, code, other_table, first=[]) -%}
{%- set codes_of = {} -%}
{%- for name, operation in codes.items() -%}
    {%- do codes_of.setdefault(operation, []).append(spark_cdc._literal(name)) -%}
{%- endfor -%}
case
    when {{ spark_cdc._is_no_document('message') }} then 'control'
    when unparsable is not null or {{ spark_cdc._is_several_documents('message') }} then null
    when {{ other_table }} then 'control'
    {%- for condition, operation in first %}
    when {{ condition }} then '{{ operation }}'
    {%- endfor %}
    {%- for operation, names in codes_of.items() %}
    when {{ code }} in ({{ names | join(', ') }}) then '{{ operation }}'
    {%- endfor %}
end
{%- endmacro -%}


{#- The first cases of what is wrong with a message: it can't be read. Arguments: tool (who writes such messages), accepted (text). -#}
{%- macro _unreadable_cases(tool, accepted='one message a line') -%}
when event_op = 'control' then null
when unparsable is not null then {{ spark_cdc._literal('not a JSON object of ' ~ tool ~ '; accepted is ' ~ accepted) }}
when event_op is null and {{ spark_cdc._is_several_documents('message') }}
    then {{ spark_cdc._literal(spark_cdc._several_documents_text()) }}
{%- endmacro -%}


{#- The next case: its operation is unknown. Arguments: label (text expression: which field holds it), code (expression), codes
    (those that are accepted). -#}
{%- macro _unknown_operation_case(label, code, codes) -%}
when event_op is null
    then concat(
        'unknown ', {{ label }}, ' ', coalesce({{ spark_cdc._shown(code) }}, 'null'),
        {{ spark_cdc._literal('; accepted are ' ~ codes | join(', ')) }}
    )
{%- endmacro -%}
