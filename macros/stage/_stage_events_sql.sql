{#- Staging of change events as SQL: what an adapter reads out of the source, typed, judged, and with the hash of its
    key. Column kinds of formats bring their columns typed; message kinds bring them as maps of text.
    Arguments: entity, landed (relation with the columns of the source and `landing_problem`; for message kinds
    `message`, `message_key` and the declared control columns, null where they were not landed beside the message).
    Returns a query with the columns of _event_columns(), without its partition. -#}
{%- macro _stage_events_sql(entity, landed) -%}
{%- set adapter_sql = spark_cdc._adapter(entity.events.format) -%}
{%- set old_keys = spark_cdc._old_keys(entity) -%}
{%- do spark_cdc._refuse_events(entity) -%}
{%- if entity.events.is_message -%}
{%- set events_sql = adapter_sql(entity, 'landed') -%}
{%- set has_row = entity.events.landed_row -%}
with landed as (
    select
        message,
        message_key,
        named_struct(
            'message', message
            {%- for column in spark_cdc._landed_columns(entity) %},
            {{ spark_cdc._literal(column.name) }}, {{ spark_cdc._quote(column.from) }}
            {%- endfor %}
        ) as landed_row
    from {{ landed }}
),

events as (
    {{ events_sql | indent(4) }}
),

received as (
    select
        event_op,
        event_position,
        event_transaction,
        event_time,
        event_problem,
        event_before,
        event_after,
        {{ 'landed_row.message' if has_row else 'cast(null as string)' }} as landing_message
        {%- for column in entity.stored %},
        {{ spark_cdc._image_value(entity, column) }} as {{ spark_cdc._raw(column) }}
        {%- endfor %}
        {%- for column in spark_cdc._order_columns(entity) %},
        {{ spark_cdc._order_value(column, has_row) }} as {{ spark_cdc._raw(column) }}
        {%- endfor %}
        {%- for old in old_keys %},
        {{ spark_cdc._old_key_value(entity, old.of, spark_cdc._image_value(entity, old.of)) }} as {{ spark_cdc._raw(old) }}
        {%- endfor %}
    from events
),

-- every column is text here
typed as (
    select
        *
        {%- for column in entity.stored + spark_cdc._order_columns(entity) %},
        {{ spark_cdc._sent_value(entity, column) }} as {{ column.sql }}
        {%- endfor %}
    from received
),
{% else -%}
with landed as (
    select
        {% for column in entity.columns -%}
        {{ spark_cdc._quote(column.from) }} as {{ spark_cdc._raw(column) }},
        {% endfor -%}
        {%- if entity.source.format == 'json' -%}
        landing_names,
        {% endif -%}
        landing_problem
    from {{ landed }}
),

cast_columns as (
    select
        *
        {%- for column in entity.columns %},
        {{ spark_cdc._cast(entity, column) }} as {{ column.sql }}
        {%- endfor %}
    from landed
),

events as (
    {{ adapter_sql(entity, 'cast_columns') | indent(4) }}
),

typed as (
    select
        *
        {%- for old in old_keys %},
        {{ spark_cdc._old_key_value(entity, old.of, 'cast(' ~ spark_cdc._raw(old.of) ~ ' as string)') }} as {{ spark_cdc._raw(old) }}
        {%- endfor %}
    from events
),
{%- endif %}

completed as (
    select
        *,
        {{ spark_cdc._final_position(entity) | indent(8) }} as final_position,
        {{ spark_cdc._missing_columns(entity, 'absent') | indent(8) }} as event_absent,
        {{ spark_cdc._missing_columns(entity, 'unavailable') | indent(8) }} as event_unavailable,
        {{ spark_cdc._unexpected_columns(entity) | indent(8) }} as event_unexpected
        {%- for old in old_keys %},
        {{ spark_cdc._cast_text(entity, old) }} as {{ old.sql }}
        {%- endfor %}
    from typed
)

select
    event_op,
    final_position as event_position,
    event_transaction,
    event_time,
    {{ spark_cdc._event_hash(entity) | indent(4) }} as event_hash,
    {{ spark_cdc._event_key_hash(entity) | indent(4) }} as key_hash,
    {%- if old_keys %}
    {{ spark_cdc._old_key_hash(entity, old_keys) | indent(4) }} as old_key_hash,
    {%- endif %}
    {%- if entity.events.unique_keys %}
    {{ spark_cdc._old_alternate_hash(entity) | indent(4) }} as old_alternate_hash,
    {{ spark_cdc._alternate_hashes(entity) | indent(4) }} as alternate_hashes,
    {%- endif %}
    {% for old in old_keys -%}
    {{ old.sql }},
    {% endfor -%}
    {%- for column in entity.stored -%}
    {{ column.sql }},
    {% endfor -%}
    event_absent,
    event_unavailable,
    if(size(event_unexpected) > 0, event_unexpected, null) as event_unexpected,
    {{ spark_cdc._event_note(entity) | indent(4) }} as note
from completed
{%- endmacro -%}


{#- Columns that only give an order, not stored. -#}
{%- macro _order_columns(entity) -%}
    {%- set columns = [] -%}
    {%- for column in entity.events.order + entity.events.tie_breaker
            if column.role == 'control' and column.name not in columns | map(attribute='name') -%}
        {%- do columns.append(column) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}


{#- A column that only gives an order, as text: as it was landed beside the message, else as an image has it. -#}
{%- macro _order_value(column, has_row) -%}
    {%- set name = spark_cdc._literal(column.from) -%}
    {{ return('coalesce(' ~ ('landed_row.' ~ column.sql ~ ', ' if has_row else '') ~ 'event_after[' ~ name ~ '], event_before[' ~ name ~ '])') }}
{%- endmacro -%}


{#- A column of a message's new image as text; for a key that the image lacks the old one. -#}
{%- macro _image_value(entity, column) -%}
    {%- set name = spark_cdc._literal(column.from) -%}
    {%- if column.role == 'key' -%}
        {{ return('if(map_contains_key(event_after, ' ~ name ~ '), event_after[' ~ name ~ '], event_before[' ~ name ~ '])') }}
    {%- endif -%}
    {{ return('try_element_at(event_after, ' ~ name ~ ')') }}
{%- endmacro -%}


{#- A message's column in its type; null where it stands for an unchanged value. -#}
{%- macro _sent_value(entity, column) -%}
    {%- set value = spark_cdc._cast(entity, column) -%}
    {%- set marks = spark_cdc._unavailable_texts(entity, column) -%}
    {%- if column.role == 'key' or not marks -%}
        {{ return(value) }}
    {%- endif -%}
    {{ return('if(' ~ spark_cdc._raw(column) ~ ' in (' ~ marks | join(', ') ~ '), null, ' ~ value ~ ')') }}
{%- endmacro -%}


{#- How the text for an unchanged value looks in a column, as Debezium writes it: its bytes as base64 or hexadecimal digits in binary,
    lists of it in arrays (of numbers: its bytes), a pair of it in a map. Returns a list of expressions. -#}
{%- macro _unavailable_texts(entity, column) -%}
    {%- if entity.events.unavailable is none -%}
        {{ return([]) }}
    {%- endif -%}
    {%- set mark = entity.events.unavailable | string -%}
    {%- set text = [spark_cdc._literal(mark)] -%}
    {%- set base64 = 'base64(cast(' ~ spark_cdc._literal(mark) ~ ' as binary))' -%}
    {%- set numbers = [] -%}
    {%- for byte in mark.encode('utf-8') -%}{%- do numbers.append(byte if byte < 128 else byte - 256) -%}{%- endfor -%}
    {%- set binary = [base64, spark_cdc._literal(mark.encode('utf-8').hex()), spark_cdc._literal(mark.encode('utf-8').hex() | upper)] -%}
    {%- set list = [spark_cdc._literal('["' ~ mark ~ '"]'), spark_cdc._literal('[' ~ numbers | join(',') ~ ']'), 'concat(\'["\', ' ~ base64 ~ ', \'"]\')'] -%}
    {%- set pair = [spark_cdc._literal('{"' ~ mark ~ '":"' ~ mark ~ '"}')] -%}
    {%- if column.data_type == 'string' -%}
        {{ return(text + binary + list + pair) }}
    {%- elif column.data_type == 'binary' -%}
        {{ return(text + binary) }}
    {%- elif column.data_type.startswith('array') -%}
        {{ return(text + list) }}
    {%- elif modules.re.match('(map|struct)', column.data_type) -%}
        {{ return(text + pair) }}
    {%- endif -%}
    {{ return(text + [base64]) }}
{%- endmacro -%}


{#- The old key of a row, as text, column by column; null where the event names none. Parts that the old image lacks have not
    changed: unchanged is the text of the new one. -#}
{%- macro _old_key_value(entity, column, unchanged) -%}
    {%- set name = spark_cdc._literal(column.from) -%}
    {%- set present = [] -%}
    {%- for key in entity.key_columns -%}
        {%- do present.append('map_contains_key(event_before, ' ~ spark_cdc._literal(key.from) ~ ')') -%}
    {%- endfor -%}
    {{ return(
        "if(event_op in ('update', 'upsert') and (" ~ present | join(' or ') ~ '), if(map_contains_key(event_before, ' ~ name
        ~ '), event_before[' ~ name ~ '], ' ~ unchanged ~ '), null)'
    ) }}
{%- endmacro -%}


{#- _cast() of a value that is text whatever the source's other columns are. -#}
{%- macro _cast_text(entity, column) -%}
    {{ return(spark_cdc._cast(dict(entity, source=dict(entity.source, text=true)), column)) }}
{%- endmacro -%}


{#- The position of an event in the order of all: snapshot rows first, then what the format and the tie-breaker say;
    null where a part is missing. -#}
{%- macro _final_position(entity) -%}
{%- set has_null = 'size(event_position) > 0 and sort_array(event_position)[0] is null' -%}
case
    when event_op = 'read'
        then concat(
            array(0L),
            if({{ has_null }}, cast(split(array_join(event_position, ',', '0'), ',') as array<bigint>), coalesce(event_position, array()))
            {%- if entity.events.tie_breaker %},
            array({% for part in spark_cdc._order_parts(entity.events.tie_breaker) %}coalesce({{ part }}, 0L){{ ', ' if not loop.last }}{% endfor %})
            {%- endif %}
        )
    when {{ has_null }} then null
    {%- if entity.events.tie_breaker %}
    when {{ spark_cdc._any_null(entity.events.tie_breaker) }} then null
    {%- endif %}
    else concat(array(1L), event_position
        {%- if entity.events.tie_breaker %}, array({{ spark_cdc._order_parts(entity.events.tie_breaker) | join(', ') }}){% endif %})
end
{%- endmacro -%}


{#- Names of the stored columns that an event that brings a row does not have (absent), or has only a mark in place
    of (unavailable). Keys are never missing: that is a reason to reject. -#}
{%- macro _missing_columns(entity, state) -%}
    {%- set cases = [] -%}
    {%- for column in entity.stored if column.role != 'key' -%}
        {%- set marks = spark_cdc._unavailable_texts(entity, column) -%}
        {%- set condition = none -%}
        {%- if state == 'unavailable' -%}
            {%- if marks and entity.events.is_message or marks and entity.source.text or (marks and column.data_type == 'string') -%}
                {%- set condition = 'coalesce(' ~ spark_cdc._raw(column) ~ ' in (' ~ marks | join(', ') ~ '), false)' -%}
            {%- endif -%}
        {%- elif entity.events.is_message -%}
            {%- set condition = spark_cdc._raw(column) ~ ' is null and not map_contains_key(event_after, ' ~ spark_cdc._literal(column.from) ~ ')' -%}
        {%- elif entity.source.format == 'json' -%}
            {%- set condition = spark_cdc._raw(column) ~ ' is null and not array_contains(landing_names, ' ~ spark_cdc._literal(column.from) ~ ')' -%}
        {%- endif -%}
        {%- if condition is not none -%}
            {%- do cases.append('if(' ~ condition ~ ', ' ~ spark_cdc._literal(column.name) ~ ', null)') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if not cases -%}
        {{ return('cast(null as array<string>)') }}
    {%- endif -%}
    {{ return("if(\n    event_op in ('insert', 'update', 'upsert', 'read')\n    and " ~ spark_cdc._any_found(cases) | indent(4) ~ ',\n    '
        ~ spark_cdc._texts_found(cases) | indent(4) ~ ',\n    null\n)') }}
{%- endmacro -%}


{#- Names in an event's new image that are no columns of the entity. They are looked for only where there are more names
    than declared columns, which is cheap to count. -#}
{%- macro _unexpected_columns(entity) -%}
    {%- if not entity.events.is_message and entity.source.format != 'json' -%}
        {{ return('cast(null as array<string>)') }}
    {%- endif -%}
    {%- set found = 'map_keys(event_after)' if entity.events.is_message else 'landing_names' -%}
    {%- set raws = entity.columns if not entity.events.is_message else entity.stored + spark_cdc._order_columns(entity) -%}
    {%- set names = [] -%}
    {%- set present = [] -%}
    {%- for column in entity.columns -%}
        {%- set name = spark_cdc._literal(column.from) -%}
        {%- set is_named = 'array_contains(' ~ found ~ ', ' ~ name ~ ')' -%}
        {%- do names.append(name) -%}
        {%- do present.append('if(' ~ (spark_cdc._raw(column) ~ ' is not null or ' if column in raws and column.role != 'key' else '') ~ is_named ~ ', 1, 0)') -%}
    {%- endfor -%}
    {{ return('if(\n    size(' ~ found ~ ') > ' ~ present | join(' + ') ~ ',\n    array_except(' ~ found ~ ', array(' ~ names | join(', ') ~ ')), null\n)') }}
{%- endmacro -%}


{#- The note on an event that can't be accepted: JSON with what is wrong and what came in; null for the others. -#}
{%- macro _event_note(entity) -%}
{%- set reasons = spark_cdc._event_reasons(entity) -%}
if(
    {{ spark_cdc._any_found(reasons) | indent(4) }},
    to_json(named_struct(
        'reasons', {{ spark_cdc._texts_found(reasons) | indent(8) }},
        'row', {{ spark_cdc._shown_event(entity) | indent(8) }}
        {%- if not entity.events.is_message %},
        'text', {{ spark_cdc._landing_text(entity) }}
        {%- endif %}
    )),
    null
)
{%- endmacro -%}


{#- What may be wrong with an event: a list of expressions, each a text or null. -#}
{%- macro _event_reasons(entity) -%}
    {%- set reasons = [] -%}
    {%- set ops = "('insert', 'update', 'upsert', 'delete', 'truncate', 'read', 'control')" -%}
    {%- do reasons.append('event_problem') -%}
    {%- if not entity.events.is_message -%}
        {%- do reasons.append(spark_cdc._landing_reason(entity)) -%}
    {%- endif -%}
    {%- do reasons.append("if(event_problem is null and not coalesce(event_op in " ~ ops ~ ", false), concat('operation ', coalesce(concat('\\'', event_op, '\\''), 'missing'), '; accepted are insert, update, upsert, delete, truncate, read, control'), null)") -%}
    {%- do reasons.append("if(event_problem is null and event_op not in ('control', 'read') and final_position is null, 'the position in the order of events is missing', null)") -%}
    {%- if entity.events.insert_only -%}
        {%- do reasons.append("if(event_op in ('update', 'delete', 'truncate'), concat(event_op, ' in an entity that is insert_only'), null)") -%}
    {%- endif -%}
    {%- if entity.source.on_unexpected_column == 'error' and (entity.events.is_message) -%}
        {%- do reasons.append("if(size(event_unexpected) > 0, concat('unexpected columns: ', array_join(event_unexpected, ', ')), null)") -%}
    {%- endif -%}
    {%- for column in entity.columns if column.role != 'control' or column in spark_cdc._order_columns(entity) or not entity.events.is_message -%}
        {%- set condition = spark_cdc._reject_condition(entity, column) -%}
        {%- if condition -%}
            {%- set applies = spark_cdc._column_applies(entity, column) -%}
            {%- do reasons.append(
                'if(event_problem is null and ' ~ applies ~ ' and (' ~ condition ~ '), concat(' ~ spark_cdc._literal(column.name ~ ': ') ~ ', coalesce('
                ~ spark_cdc._shown(spark_cdc._raw(column)) ~ ", 'null'), " ~ spark_cdc._literal(' is not accepted as '
                ~ column.data_type ~ ('' if column.nullable else ' not null')) ~ '), null)'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for old in spark_cdc._old_keys(entity) -%}
        {%- do reasons.append(
            'if(event_problem is null and ' ~ spark_cdc._raw(old) ~ ' is not null and ' ~ old.sql ~ ' is null, concat('
            ~ spark_cdc._literal('old ' ~ old.of.name ~ ': ') ~ ', ' ~ spark_cdc._shown(spark_cdc._raw(old)) ~ ', '
            ~ spark_cdc._literal(' is not accepted as ' ~ old.data_type) ~ '), null)'
        ) -%}
    {%- endfor -%}
    {{ return(reasons) }}
{%- endmacro -%}


{#- Whether one of some texts is not null. -#}
{%- macro _any_found(texts) -%}
    {{ return('coalesce(\n    ' ~ texts | join(',\n    ') ~ '\n) is not null') }}
{%- endmacro -%}


{#- Those of some different texts that are not null, as an array: array_except() is compiled with what stands around it,
    array_compact() is not. -#}
{%- macro _texts_found(texts) -%}
    {{ return('array_except(array(\n    ' ~ texts | join(',\n    ') ~ '\n), array(cast(null as string)))') }}
{%- endmacro -%}


{#- When a column's value has to be right: keys wherever a row is named, others where the event brings a row. -#}
{%- macro _column_applies(entity, column) -%}
    {%- if column.role == 'key' -%}
        {%- set named = "coalesce(event_op not in ('truncate', 'control'), false)" -%}
        {{ return(named ~ (' and not (event_op = \'delete\' and ' ~ spark_cdc._old_alternate_hash(entity) ~ ' is not null)' if entity.events.unique_keys else '')) }}
    {%- elif column.role == 'control' -%}
        {{ return("coalesce(event_op <> 'control', false)") }}
    {%- endif -%}
    {{ return("coalesce(event_op in ('insert', 'update', 'upsert', 'read'), false) and not coalesce(array_contains(event_unavailable, "
        ~ spark_cdc._literal(column.name) ~ "), false) and (event_op in ('insert', 'read') or not coalesce(array_contains(event_absent, "
        ~ spark_cdc._literal(column.name) ~ '), false))') }}
{%- endmacro -%}


{#- The hash of the key; an entity without a key that is insert_only is told apart by the place of its events. -#}
{%- macro _event_key_hash(entity) -%}
    {%- if not entity.key_columns -%}
        {{ return("if(event_op in ('insert', 'upsert', 'read'), unhex(md5(concat(to_json(named_struct('position', final_position)), "
            ~ "if(event_position is null, cast(" ~ spark_cdc._event_hash(entity) ~ " as string), '')))), null)") }}
    {%- endif -%}
    {{ return("if(\n    event_op in ('truncate', 'control') or " ~ spark_cdc._any_null(entity.key_columns) ~ ', null,\n    '
        ~ spark_cdc._hash(entity.key_columns) | indent(4) ~ '\n)') }}
{%- endmacro -%}


{#- The hash of the key before the event, where it was another one. -#}
{%- macro _old_key_hash(entity, old_keys) -%}
    {%- set differs = [] -%}
    {%- set columns = [] -%}
    {%- for old in old_keys -%}
        {%- do differs.append('not ' ~ old.sql ~ ' <=> ' ~ old.of.sql) -%}
        {%- do columns.append(dict(old.of, sql=old.sql)) -%}
    {%- endfor -%}
    {{ return('if(\n    ' ~ spark_cdc._any_null(old_keys) ~ ' or not (' ~ differs | join(' or ') ~ '), null,\n    '
        ~ spark_cdc._hash(columns) | indent(4) ~ '\n)') }}
{%- endmacro -%}


{#- By which other unique key an event names the old row; null where it names the key itself, or nothing. -#}
{%- macro _old_alternate_hash(entity) -%}
    {%- set cases = [] -%}
    {%- set has_key = [] -%}
    {%- for key in entity.key_columns -%}
        {%- do has_key.append('map_contains_key(event_before, ' ~ spark_cdc._literal(key.from) ~ ')') -%}
    {%- endfor -%}
    {%- for unique_key in entity.events.unique_keys -%}
        {%- set columns = [] -%}
        {%- set present = [] -%}
        {%- for column in unique_key -%}
            {%- set text = 'event_before[' ~ spark_cdc._literal(column.from) ~ ']' -%}
            {%- do present.append('map_contains_key(event_before, ' ~ spark_cdc._literal(column.from) ~ ')') -%}
            {%- do columns.append(dict(column, sql=spark_cdc._cast_text(entity, column).replace(spark_cdc._raw(column), text))) -%}
        {%- endfor -%}
        {%- do cases.append('when ' ~ present | join(' and ') ~ ' then ' ~ spark_cdc._alternate_hash(columns)) -%}
    {%- endfor -%}
    {{ return("case when event_op not in ('update', 'upsert', 'delete') or coalesce(" ~ has_key | join(' or ') ~ ', false) then null ' ~ cases | join(' ') ~ ' end') }}
{%- endmacro -%}


{#- The other unique keys under which the row of an event is known from then on. -#}
{%- macro _alternate_hashes(entity) -%}
    {%- set hashes = [] -%}
    {%- for unique_key in entity.events.unique_keys -%}
        {%- do hashes.append(spark_cdc._alternate_hash(unique_key)) -%}
    {%- endfor -%}
    {{ return("if(event_op in ('insert', 'update', 'upsert', 'read'), array_compact(array(" ~ hashes | join(', ') ~ ')), null)') }}
{%- endmacro -%}


{#- What is shown of an event that can't be accepted. -#}
{%- macro _shown_event(entity) -%}
    {%- if entity.events.is_message -%}
        {{ return("named_struct('message', landing_message, 'operation', event_op, 'position', event_position, 'before', event_before, 'after', coalesce(event_after, event_before))") }}
    {%- endif -%}
    {%- set fields = [] -%}
    {%- for column in entity.columns -%}
        {%- do fields.append(spark_cdc._literal(column.from) ~ ', ' ~ spark_cdc._raw(column)) -%}
    {%- endfor -%}
    {{ return('named_struct(' ~ fields | join(', ') ~ ')') }}
{%- endmacro -%}
