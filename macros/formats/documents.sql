{#- The change events of a format whose messages are JSON documents, as a query.
    Arguments: entity, landed (as the macro of a format gets them), format (what is its own, as
    docs/events.md describes it; besides, for formats of this project: parsed (CTEs that end with
    one of this name, in place of fields), read (of _message_fields(), in place of fields and
    order), own_order (in the form of its order, where the setting order_fields gives none),
    event_op, unreadable and first_faults (cases of what is wrong, in place of the first ones and
    behind them)). -#}
{%- macro document_events(entity, landed, format) -%}
{%- set read = format.get('read') or spark_cdc._message_fields(entity, format.fields, format.get('order')) -%}
{%- set codes, table = dict(format.codes), format.get('table', ['cast(null as string)']) -%}
{%- set order = read.order or format.get('own_order', []) -%}
{%- for code in format.get('ignored', []) -%}{%- do codes.update({code: 'control'}) -%}{%- endfor -%}
{%- set code = 'upper(' ~ format.code ~ ')' if format.get('ignores_case') else format.code -%}
{%- set position = [] -%}
{%- for field in order -%}
    {%- for part in field.get('parts', [field.number]) -%}{%- do position.append(part) -%}{%- endfor -%}
{%- endfor -%}
{%- set position = position + format.get('position', []) -%}
{%- if 'parsed' in format -%}
{{ format.parsed }}
{%- else -%}
with parsed as (
    {{ spark_cdc._parsed_messages(entity, landed, read.known) | indent(4) }}
)
{%- endif %}

{%- for step in ['opened', 'named', 'completed'] if step == 'named' or step in format %},

{{ step }} as (
    select
        *
        {%- if step == 'named' and 'event_op' in format %},
        {{ format.event_op | indent(8) }} as event_op
        {%- elif step == 'named' %},
        case
            when coalesce(trim(message), '') = '' then 'control'
            when unparsable is not null or {{ spark_cdc._is_misread('message') }} then null
            when {{ spark_cdc._is_other_table(entity, table) }} then 'control'
            {%- if 'control' in format %}
            when {{ format.control }} then 'control'
            {%- endif %}
            {%- for operation in codes.values() | unique %}
            {%- set names = [] -%}
            {%- for name, meant in codes.items() if meant == operation -%}{%- do names.append(name) -%}{%- endfor %}
            when {{ code }} in ({{ spark_cdc._literals(names) }}) then '{{ operation }}'
            {%- endfor %}
        end as event_op
        {%- endif %}
        {%- for column, sql in format.get(step, {}).items() if column != 'each' %},
        {{ sql | indent(8) }} as {{ column }}
        {%- endfor %}
    from {{ 'named' if step == 'completed' else 'opened' if step == 'named' and 'opened' in format else 'parsed' }}
    {%- if 'each' in format.get(step, {}) %}
        lateral view outer
        {{ format[step].each | indent(8) }}
    {%- endif %}
)
{%- endfor %}

select
    event_op,
    {%- if position %}
    if(
        event_op = 'control' or {{ position | join(' is null or ') }} is null,
        null,
        array({{ position | join(', ') }})
    ) as event_position,
    {%- else %}
    {{ format.event_position | indent(4) }} as event_position,
    {%- endif %}
    if(event_op = 'control', null, {{ format.get('transaction', 'cast(null as string)') | indent(4) }}) as event_transaction,
    if(event_op = 'control', null, {{ format.get('time', 'cast(null as timestamp)') | indent(4) }}) as event_time,
    {{ spark_cdc._document_problem(format, codes, order) | indent(4) }} as event_problem,
    {%- if 'changed' in format %}
    case event_op
        when 'update' then {{ spark_cdc._overlaid('new_row', format.changed) }}
        when 'delete' then {{ format.get('deleted', 'new_row') }}
    end as event_before,
    {%- else %}
    {{ format.get('before', "if(event_op in ('update', 'delete'), old_row, null)") | indent(4) }} as event_before,
    {%- endif %}
    if(event_op in ('insert', 'update', 'upsert', 'read'), {{ format.get('after', 'new_row') }}, null) as event_after,
    {{ spark_cdc._event_origin(table, format.get('log')) | indent(4) }} as event_origin,
    landed_row
from {{ 'completed' if 'completed' in format else 'named' }}
{%- endmacro -%}


{#- What is wrong with a message, in words: it can't be read, its operation is unknown, it has no
    order, and what its format says. Arguments: format, codes (all of them), order (of
    _message_fields()). -#}
{%- macro _document_problem(format, codes, order) -%}
{%- set one_line, label = 'one message a line', format.get('label', spark_cdc._literal(format.code)) -%}
case
    when event_op = 'control' then null
    {%- if 'unreadable' in format %}
    {{ format.unreadable | indent(4) }}
    {%- else %}
    when unparsable is not null
        then concat(
            {{ spark_cdc._literal('not a JSON object of ' ~ format.tool ~ '; accepted is ' ~ format.get('accepted', one_line)) }},
            {{ spark_cdc._over_lines_hint('message') }}
        )
    when event_op is null and {{ spark_cdc._is_misread('message') }}
        then {{ spark_cdc._misread_text('message') }}
    {%- endif %}
    {%- if 'first_faults' in format %}
    {{ format.first_faults | indent(4) }}
    {%- endif %}
    when event_op is null
        then concat(
            'unknown ', {{ label }}, ' ', coalesce({{ spark_cdc._shown(format.code) }}, 'null'),
            {{ spark_cdc._literal('; accepted are ' ~ codes | join(', ')) }}
        )
    {%- for field in order %}
    when event_op <> 'read' and {{ field.number }} is null
        then concat(
            'no order: ', {{ field.name }}, ' is ', coalesce({{ spark_cdc._shown(field.text) }}, 'missing'),
            {{ spark_cdc._literal('; accepted is ' ~ format.get('accepted_order', 'a whole number')) }}
        )
    {%- endfor %}
    {%- if format.get('faults') %}
    when event_op = 'truncate' then null
    {{ format.faults | indent(4) }}
    {%- endif %}
end
{%- endmacro -%}


{#- The fields of a message that are read, and those that give the order besides: of the setting
    order_fields, `a.b` is the field b of the object a; a declared column landed beside the message
    comes before a field of its name.
    Arguments: entity, known (list of [name in the message, type, name in SQL]), default (the order
    without the setting: names of fields), content (where the fields of the order are not parsed:
    the message, an expression, with its fields below payload if is_enclosed).
    Returns {known, order}: known with the fields that the order needs added, and for each field of
    the order its name, text and number as expressions. A format may add parts, where it is not one
    number. -#}
{%- macro _message_fields(entity, known, default=none, content=none) -%}
    {%- set fields, names, order = known | list, {}, [] -%}
    {%- for name, type, column in known -%}{%- do names.update({name: column}) -%}{%- endfor -%}
    {%- set given = entity.events.get('order_fields') or default or [] -%}
    {%- for field in (given.split(',') if given is string else given) | map('string') | map('trim') -%}
        {%- set path = field.split('.') -%}
        {%- if not content and path[0] not in names -%}
            {%- do names.update({path[0]: 'order_' ~ loop.index}) -%}
            {%- do fields.append([path[0], 'string', 'order_' ~ loop.index]) -%}
        {%- endif -%}
        {%- set text -%}
{%- if content -%}
get_json_object({{ content }}, if(is_enclosed, {{ spark_cdc._literal('$.payload.' ~ field) }}, {{ spark_cdc._literal('$.' ~ field) }}))
{%- elif path | length > 1 -%}
get_json_object({{ names[path[0]] }}, {{ spark_cdc._literal('$.' ~ path[1:] | join('.')) }})
{%- else -%}
{{ names[field] }}
{%- endif -%}
        {%- endset -%}
        {%- set beside = spark_cdc._named_column(entity, field) -%}
        {%- if beside and beside.role == 'control' -%}
            {%- set text = 'coalesce(landed_row.' ~ beside.sql ~ ', ' ~ text ~ ')' -%}
        {%- endif -%}
        {%- do order.append({'name': spark_cdc._literal(field), 'text': text, 'number': 'try_cast(' ~ text ~ ' as bigint)'}) -%}
    {%- endfor -%}
    {{ return({'known': fields, 'order': order}) }}
{%- endmacro -%}


{#- The messages with their fields as columns, and `unparsable`: what is no JSON object with fields
    of these types. A message is parsed by a generator, not in a projection: what filters or repeats
    the columns can't parse it again. fields: as _message_fields() takes them. -#}
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


{#- The column event_origin, null for control messages.
    Arguments: table (expressions of the table's name, what qualifies it first), log (expression of
    the log's name, or none). Returns an expression. -#}
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


{#- Whether a change is one of another table than the entity's. events.table is the table's name,
    alone or with all or some of what qualifies it; several names, and names with *, are those of
    tables whose rows belong together. Without the setting all changes count, and those that name no
    table.
    Arguments: entity, table (as of _event_origin()).
    Returns a condition that is never null. -#}
{%- macro _is_other_table(entity, table) -%}
{%- set name = spark_cdc._event_origin_table(table) -%}
{%- set conditions = [] -%}
{%- for wanted in spark_cdc._names(entity.events.get('table')) -%}
    {%- if '*' in wanted -%}
        {%- set pattern = wanted.replace('!', '!!').replace('%', '!%').replace('_', '!_').replace('*', '%') -%}
        {%- do conditions.append("concat('.', " ~ name ~ ') like ' ~ spark_cdc._literal('%.' ~ pattern) ~ " escape '!'") -%}
    {%- else -%}
        {%- do conditions.append("endswith(concat('.', " ~ name ~ '), ' ~ spark_cdc._literal('.' ~ wanted) ~ ')') -%}
    {%- endif -%}
{%- endfor -%}
{{ 'not coalesce(' ~ conditions | join(' or ') ~ ', true)' if conditions else 'false' }}
{%- endmacro -%}


{#- The name that the files of a binlog share, without their numbers: another one says that they are
    numbered anew. -#}
{%- macro _binlog_name(file) -%}
left({{ file }}, length({{ file }}) - length(substring_index({{ file }}, '.', -1)) - 1)
{%- endmacro -%}


{#- A number that says where something lies in a log; null where it is below zero: it overflowed
    somewhere, and would sort first. -#}
{%- macro _place_in_log(number) -%}nullif(greatest({{ number }}, -1L), -1L){%- endmacro -%}


{#- A map from an array of names and one of values, null where they do not fit together.
    Arguments: names, texts (expressions of array<string>). Returns an expression. -#}
{%- macro _named_values(names, texts) -%}
if({# -#}
coalesce(size({{ names }}) = size({{ texts }}) and size(array_distinct(array_compact({{ names }}))) = size({{ names }}), false), {# -#}
map_from_arrays({{ names }}, {{ texts }}), null)
{%- endmacro -%}


{#- The cases of what is wrong with them. Both may be null or empty.
    Arguments: names, texts, row (the map of _named_values()), label (text). -#}
{%- macro _named_values_cases(names, texts, row, label) -%}
when greatest(size({{ names }}), 0) <> greatest(size({{ texts }}), 0)
    then concat(
        {{ spark_cdc._literal(label ~ ': ') }}, greatest(size({{ names }}), 0), ' names and ', greatest(size({{ texts }}), 0),
        ' values; accepted is one value for each name'
    )
when size({{ names }}) > 0 and {{ row }} is null
    then concat({{ spark_cdc._literal(label ~ ': a name is there twice or is null: ') }}, array_join({{ names }}, ', ', 'null'))
{%- endmacro -%}


{#- A row as it was before an update: the new row, overlaid by the old values of what changed. Null
    without old values.
    Arguments: row, old (expressions of map<string, string>). Returns an expression. -#}
{%- macro _overlaid(row, old) -%}
map_concat(map_filter({{ row }}, (name, value) -> not map_contains_key({{ old }}, name)), {{ old }})
{%- endmacro -%}


{#- A case of what is wrong with an update: its old image names columns that the new one lacks, so
    that nothing says what became of them.
    Arguments: old, new (expressions of map<string, string>), old_name, new_name (what the message
    calls them), accepted (text). -#}
{%- macro _lost_columns_case(old, new, old_name, new_name, accepted) -%}
{%- set lost -%}array_except(map_keys({{ old }}), map_keys({{ new }})){%- endset -%}
when event_op = 'update' and size({{ lost }}) > 0
    then concat({{ spark_cdc._literal('in ' ~ old_name ~ ', but not in ' ~ new_name ~ ': ') }}, {# -#}
    array_join({{ lost }}, ', '), {{ spark_cdc._literal('; accepted is ' ~ accepted) }})
{%- endmacro -%}
