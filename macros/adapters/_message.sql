{#- What the formats of JSON messages have in common: messages are parsed, each says what happened and has an order. -#}


{#- The fields of a message that an adapter reads, and those that give the order besides: of the setting order_fields, `a.b` is the
    field b of the object a; a declared column landed beside the message comes before a field of its name.
    Arguments: entity, known (list of [name in the message, type, name in SQL]), default (the order without the setting: names of fields).
    Returns {known, order}: known with the fields that the order needs added, and for each field of the order its name, and text and
    number as expressions. -#}
{%- macro _message_fields(entity, known, default) -%}
    {%- set fields = known | list -%}
    {%- set names = {} -%}
    {%- for name, type, column in known -%}{%- do names.update({name: column}) -%}{%- endfor -%}
    {%- set order = [] -%}
    {%- for field in spark_cdc._message_order_names(entity, default) -%}
        {%- set path = (field | string).split('.') -%}
        {%- if path[0] not in names -%}
            {%- do names.update({path[0]: 'order_' ~ loop.index}) -%}
            {%- do fields.append([path[0], 'string', 'order_' ~ loop.index]) -%}
        {%- endif -%}
        {%- set text = names[path[0]] -%}
        {%- if path | length > 1 -%}
            {%- set text -%}get_json_object({{ text }}, {{ spark_cdc._literal('$.' ~ path[1:] | join('.')) }}){%- endset -%}
        {%- endif -%}
        {%- do order.append(spark_cdc._message_order_part(entity, field, text)) -%}
    {%- endfor -%}
    {{ return({'known': fields, 'order': order}) }}
{%- endmacro -%}


{#- A part of the order: a control column that was landed beside the message, else a field of it. Arguments: entity, field (name), text (expression of
    the field). Returns {name, text, number}. -#}
{%- macro _message_order_part(entity, field, text) -%}
    {%- set landed = spark_cdc._named_column(entity, field) -%}
    {%- if landed and landed.role == 'control' -%}
        {%- set text -%}coalesce(landed_row.{{ landed.sql }}, {{ text }}){%- endset -%}
    {%- endif -%}
    {{ return({'name': field, 'text': text, 'number': 'try_cast(' ~ text ~ ' as bigint)'}) }}
{%- endmacro -%}


{#- The setting order_fields as a list of names. -#}
{%- macro _message_order_names(entity, default=[]) -%}
    {%- set given = entity.events.get('order_fields') or default -%}
    {{ return(given.split(',') | map('trim') | list if given is string else given) }}
{%- endmacro -%}


{#- The messages with their fields as columns, and `unparsable`: what is no JSON object with fields of these types. A
    message is parsed by a generator, not in a projection: what filters or repeats the columns can't parse it again.
    Arguments: entity, landed, fields (list, as _message_fields() takes it). Returns a query. -#}
{%- macro _parsed_messages(entity, landed, fields) -%}
{%- set types = [] -%}
{%- for name, type, column in fields -%}{%- do types.append('`' ~ name.replace('`', '``') ~ '` ' ~ type) -%}{%- endfor -%}
select
    landed.message,
    landed.landed_row,
    document.*
from {{ landed }} as landed
    lateral view
    inline(array(from_json(
        {{ spark_cdc._json_document(entity, 'landed.message') }},
        {{ spark_cdc._literal((types + ['unparsable string']) | join(', ')) }},
        map('columnNameOfCorruptRecord', 'unparsable', {{ spark_cdc._json_limits() }})
    ))) document as {{ fields | map(attribute=2) | join(', ') }}, unparsable
{%- endmacro -%}


{#- What happened, from the code of a parsed message; a tombstone or an empty line is no message, and what is of another table does not
    count. Arguments: entity, codes (mapping of code to operation), code (expression), table (see _is_other_table()), control
    (a condition under which the message is of no row, whatever its code). Returns an expression: the operation, null where it is unknown. -#}
{%- macro _message_operation(entity, codes, code, table, control=none) -%}
case
    when coalesce(trim(message), '') = '' then 'control'
    when unparsable is not null or {{ spark_cdc._is_misread('message') }} then null
    when {{ spark_cdc._is_other_table(entity, table) }} then 'control'
    {%- if control %}
    when {{ control }} then 'control'
    {%- endif %}
    {%- for operation in codes.values() | unique %}
    {%- set names = codes.items() | selectattr(1, 'equalto', operation) | map(attribute=0) %}
    when {{ code }} in ({{ spark_cdc._literals(names) }}) then '{{ operation }}'
    {%- endfor %}
end
{%- endmacro -%}


{#- The first cases of what is wrong with a message: it can't be read. Arguments: tool (who writes such messages), accepted (text). -#}
{%- macro _unreadable_message_cases(tool, accepted='one message a line') -%}
when event_op = 'control' then null
when unparsable is not null then {{ spark_cdc._literal('not a JSON object of ' ~ tool ~ '; accepted is ' ~ accepted) }}
when event_op is null and {{ spark_cdc._is_misread('message') }}
    then {{ spark_cdc._misread_text('message') }}
{%- endmacro -%}


{#- The next case: its operation is unknown. Arguments: label (text expression: which field holds it), code (expression), codes
    (those that are accepted). -#}
{%- macro _unknown_message_case(label, code, codes) -%}
when event_op is null
    then concat(
        'unknown ', {{ label }}, ' ', coalesce({{ spark_cdc._shown(code) }}, 'null'),
        {{ spark_cdc._literal('; accepted are ' ~ codes | join(', ')) }}
    )
{%- endmacro -%}


{#- The position of a message: null where a part is, and for control messages. -#}
{%- macro _message_position(parts) -%}
if(
    event_op = 'control' or {{ parts | join(' is null or ') }} is null,
    null,
    array({{ parts | join(', ') }})
)
{%- endmacro -%}


{#- What is wrong with a message's order, in words; null if each part is there.
    Arguments: order (of _message_fields()), parts (the number of each), accepted (text). Returns an expression. -#}
{%- macro _message_order_problem(order, parts, accepted) -%}
{%- set problems = [] -%}
{%- for field in order -%}
    {%- set problem -%}
if(
    {{ parts[loop.index0] }} is null,
    concat(
        {{ spark_cdc._literal('no order: ' ~ field.name ~ ' is ') }}, coalesce({{ spark_cdc._shown(field.text) }}, 'missing'),
        {{ spark_cdc._literal('; accepted is ' ~ accepted) }}
    ),
    null
)
    {%- endset -%}
    {%- do problems.append(problem) -%}
{%- endfor -%}
{%- if problems | length == 1 -%}
{{ problems[0] }}
{%- else -%}
coalesce(
    {{ problems | join(',\n') | indent(4) }}
)
{%- endif -%}
{%- endmacro -%}
