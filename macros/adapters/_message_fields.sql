{#- The fields of a JSON message that an adapter reads, and those that give the order besides.
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
        {%- set text = names[path[0]] if path | length == 1 else 'get_json_object(' ~ names[path[0]] ~ ', '
            ~ spark_cdc._literal('$.' ~ path[1:] | join('.')) ~ ')' -%}
        {%- set landed = spark_cdc._named_column(entity, field) -%}
        {%- do order.append('coalesce(landed_row.' ~ landed.sql ~ ', ' ~ text ~ ')' if landed and landed.role == 'control' else text) -%}
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


{#- The names of the setting order_fields as a list. -#}
{%- macro _order_field_names(entity, default) -%}
    {%- set fields = entity.events.get('order_fields') or default -%}
    {{ return([fields] if fields is string else fields) }}
{%- endmacro -%}


{#- Texts as whole numbers. -#}
{%- macro _whole_numbers(texts) -%}
    {%- set numbers = [] -%}
    {%- for text in texts -%}{%- do numbers.append('try_cast(' ~ text ~ ' as bigint)') -%}{%- endfor -%}
    {{ return(numbers) }}
{%- endmacro -%}


{#- What is wrong with a message's order, in words; null if each part is there.
    Arguments: fields (names), texts and parts (their texts and numbers), accepted (text). Returns an expression. -#}
{%- macro _order_problem(fields, texts, parts, accepted) -%}
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
    {%- do problems.append(problem | trim) -%}
{%- endfor -%}
{%- if problems | length == 1 -%}{{ return(problems[0]) }}{%- endif -%}
coalesce(
    {{ problems | join(',\n') | indent(4) }}
)
{%- endmacro -%}


{#- The position of a message: null where a part is, and for control messages. -#}
{%- macro _position(parts) -%}
if(
    event_op = 'control' or {{ parts | join(' is null or ') }} is null,
    null,
    array({{ parts | join(', ') }})
)
{%- endmacro -%}
