{#- What the formats of JSON messages have in common: messages are parsed, each says what happened and has an order. -#}


{#- The fields of a message that an adapter reads, and those that give the order besides.
    Arguments: entity, known (list of [name in the message, type, name in SQL]), order_fields (names of fields in the
    message; `a.b` is the field b of the object a; a declared column landed beside the message comes before a field of
    its name). Returns {known, order}: known with the fields that the order needs added, and for each part of the order a
    text expression. -#}
{%- macro _message_fields(entity, known, order_fields) -%}
    {%- set fields = known | list -%}
    {%- set names = {} -%}
    {%- for name, type, column in known -%}{%- do names.update({name: column}) -%}{%- endfor -%}
    {%- set order = [] -%}
    {%- for field in order_fields -%}
        {%- set path = (field | string).split('.') -%}
        {%- if path[0] not in names -%}
            {%- do names.update({path[0]: 'order_' ~ loop.index}) -%}
            {%- do fields.append([path[0], 'string', 'order_' ~ loop.index]) -%}
        {%- endif -%}
        {%- set text = names[path[0]] -%}
        {%- if path | length > 1 -%}
            {%- set text -%}get_json_object({{ text }}, {{ spark_cdc._literal('$.' ~ path[1:] | join('.')) }}){%- endset -%}
        {%- endif -%}
        {%- set landed = spark_cdc._named_column(entity, field) -%}
        {%- if landed and landed.role == 'control' -%}
            {%- set text -%}coalesce(landed_row.{{ landed.sql }}, {{ text }}){%- endset -%}
        {%- endif -%}
        {%- do order.append(text) -%}
    {%- endfor -%}
    {{ return({'known': fields, 'order': order}) }}
{%- endmacro -%}


{#- The messages with their fields as columns, and `unparsable`: what is no JSON object with fields of these types. A
    message is parsed by a generator, not in a projection: what filters or repeats the columns can't parse it again.
    Arguments: entity, landed, fields (known of _message_fields()). Returns a query. -#}
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
        map('columnNameOfCorruptRecord', 'unparsable')
    ))) document as {{ fields | map(attribute=2) | join(', ') }}, unparsable
{%- endmacro -%}


{#- What happened, from the code of a parsed message. Arguments: codes (mapping of code to operation), code (expression),
    other_table (condition: whether the change is one of another table), first (list of [condition, operation] that count
    before the codes do). Returns an expression: the operation, null where it is unknown. -#}
{%- macro _message_operation(codes, code, other_table, first=[]) -%}
{%- set codes_of = {} -%}
{%- for name, operation in codes.items() -%}
    {%- do codes_of.setdefault(operation, []).append(name) -%}
{%- endfor -%}
case
    when {{ spark_cdc._is_no_message('message') }} then 'control'
    when unparsable is not null or {{ spark_cdc._is_several_messages('message') }} then null
    when {{ other_table }} then 'control'
    {%- for condition, operation in first %}
    when {{ condition }} then '{{ operation }}'
    {%- endfor %}
    {%- for operation, names in codes_of.items() %}
    when {{ code }} in ({{ spark_cdc._literals(names) }}) then '{{ operation }}'
    {%- endfor %}
end
{%- endmacro -%}


{#- Whether there is no message: a tombstone, or an empty line. Returns a condition that is never null. -#}
{%- macro _is_no_message(message) -%}
coalesce(trim({{ message }}), '') = ''
{%- endmacro -%}


{#- Whether a message is more than one JSON object: from_json would read the first and drop the rest. Its parts are counted as those
    of an array, which takes no longer than a regular expression and finds more: only a `]` between two objects ends the array unseen.
    What is not counted as one is parsed as from_json does, which accepts more, such as NaN. Returns a condition that is never null. -#}
{%- macro _is_several_messages(message) -%}
({{ message }} is not null and coalesce(json_array_length(concat('[', {{ message }}, ']')), 0) <> 1 {# -#}
and coalesce(size(from_json(concat('[', {{ message }}, ']'), 'array<string>')), 0) <> 1)
{%- endmacro -%}


{%- macro _several_messages_text() -%}
    {{ return('more than one JSON object in a message, or text behind it; accepted is one object a line') }}
{%- endmacro -%}


{#- The first cases of what is wrong with a message: it can't be read. Arguments: tool (who writes such messages), accepted (text). -#}
{%- macro _unreadable_message_cases(tool, accepted='one message a line') -%}
when event_op = 'control' then null
when unparsable is not null then {{ spark_cdc._literal('not a JSON object of ' ~ tool ~ '; accepted is ' ~ accepted) }}
when event_op is null and {{ spark_cdc._is_several_messages('message') }}
    then {{ spark_cdc._literal(spark_cdc._several_messages_text()) }}
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


{#- The names of the setting order_fields as a list. -#}
{%- macro _message_order_fields(entity, default) -%}
    {%- set fields = entity.events.get('order_fields') or default -%}
    {{ return([fields] if fields is string else fields) }}
{%- endmacro -%}


{#- Texts as whole numbers: a list of expressions. -#}
{%- macro _message_numbers(texts) -%}
    {%- set numbers = [] -%}
    {%- for text in texts -%}{%- do numbers.append('try_cast(' ~ text ~ ' as bigint)') -%}{%- endfor -%}
    {{ return(numbers) }}
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
    Arguments: fields (names), texts and parts (their texts and numbers), accepted (text). Returns an expression. -#}
{%- macro _message_order_problem(fields, texts, parts, accepted) -%}
{%- set problems = [] -%}
{%- for field in fields -%}
    {%- set problem -%}
if(
    {{ parts[loop.index0] }} is null,
    concat(
        {{ spark_cdc._literal('no order: ' ~ field ~ ' is ') }}, coalesce({{ spark_cdc._shown(texts[loop.index0]) }}, 'missing'),
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
