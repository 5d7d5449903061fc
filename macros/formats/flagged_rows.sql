{#- Change-event format `flagged_rows`: rows with a column that says what happened to them and
    columns that give their order, such as the change tables of vendors. -#}
{%- macro _events_flagged_rows(entity, typed) -%}
{%- set sent = spark_cdc._named_column(entity, entity.events.get('columns_sent')) -%}
{{ spark_cdc.row_events(entity, typed, {
    'operation': entity.events.operation,
    'codes': spark_cdc._flagged_rows_codes(entity.events),
    'position': spark_cdc._order_parts(entity.events.order),
    'opened': {'cdc__sent': spark_cdc._flagged_rows_sent(entity, sent)} if sent else {},
    'problems': [spark_cdc._flagged_rows_unknown(entity, sent)] if sent else [],
}) }}
{%- endmacro -%}


{#- Which columns a row brings, as an array of their names in lower case; null: all of them.
    Argument: sent (the column that says so: a list of names as an array, as a JSON array or with
    commas between them, or a number with a bit for each column). -#}
{%- macro _flagged_rows_sent(entity, sent) -%}
{%- if sent.data_type == 'string' -%}
transform(
    if({{ sent.sql }} like '[%', from_json({{ sent.sql }}, 'array<string>'), split(nullif(trim({{ sent.sql }}), ''), ',')),
    name -> lower(trim(name))
)
{%- elif sent.data_type.startswith('array') -%}
transform({{ sent.sql }}, name -> lower(trim(name)))
{%- else -%}
if({{ sent.sql }} is null, null, array_compact(array(
    {%- for column in entity.stored %}
    if({{ sent.sql }} & {{ 2 ** loop.index0 }}L <> 0, {{ spark_cdc._literal(column.from | lower) }}, null){{ ',' if not loop.last }}
    {%- endfor %}
)))
{%- endif -%}
{%- endmacro -%}


{#- What is wrong with the names, as an expression: a text, or null. -#}
{%- macro _flagged_rows_unknown(entity, sent) -%}
{%- set known = entity.columns | map(attribute='from') | list -%}
{%- set unknown = 'array_except(cdc__sent, array(' ~ spark_cdc._literals(known | map('lower')) ~ '))' -%}
{%- if sent.data_type == 'string' or sent.data_type.startswith('array') -%}
case
    {%- if sent.data_type == 'string' %}
    when {{ sent.sql }} like '[%' and cdc__sent is null
        then concat({{ spark_cdc._literal(sent.name ~ ' is no JSON array of names: ') }}, {{ spark_cdc._shown(sent.sql) }})
    {%- endif %}
    when size({{ unknown }}) > 0
        then concat(
            {{ spark_cdc._literal('unknown columns in ' ~ sent.name ~ ': ') }},
            array_join({{ unknown }}, ', ', 'null'),
            {{ spark_cdc._literal('; accepted are ' ~ known | join(', ')) }}
        )
end
{%- else -%}
if(
    {{ sent.sql }} not between 0 and {{ 2 ** (entity.stored | length) - 1 }},
    concat({{ spark_cdc._literal(sent.name ~ ' has a bit for no column: ') }}, {{ sent.sql }}, {# -#}
    {{ spark_cdc._literal('; the lowest bit is ' ~ entity.stored[0].name ~ ', the highest ' ~ entity.stored[-1].name) }}),
    null
)
{%- endif -%}
{%- endmacro -%}


{%- macro _events_flagged_rows_format() -%}
    {{ return({
        'shape': 'rows', 'problems': true,
        'settings': {'operation': 'column', 'transaction': 'column', 'time': 'time', 'codes': none, 'old_key': 'old key', 'columns_sent': 'column'},
        'needed': ['operation'],
        'columns': [{'setting': 'operation', 'data_type': 'string', 'required': true}],
        'no_order': 'events.order is missing or names no column: name the columns that give the order of the changes, '
            ~ 'most significant first',
    }) }}
{%- endmacro -%}


{%- macro _events_flagged_rows_problems(entity) -%}
    {%- set problems, accepted = [], spark_cdc._event_operations() -%}
    {%- if (entity.events.get('codes') or {}) is not mapping -%}
        {{ return(['events.codes is not a mapping: write code: operation below it, such as U: update']) }}
    {%- endif -%}
    {%- for code, operation in spark_cdc._flagged_rows_codes(entity.events).items() if operation not in accepted -%}
        {%- do problems.append("events.codes gives '" ~ code ~ "' the operation '" ~ operation ~ "'; accepted are " ~ accepted | join(', ')
            ~ ': correct it') -%}
    {%- endfor -%}
    {%- set sent = spark_cdc._named_column(entity, entity.events.get('columns_sent')) or {} -%}
    {%- set is_number = sent.get('data_type') in ['tinyint', 'smallint', 'int', 'bigint'] -%}
    {%- do problems.extend(spark_cdc._failed_rules({'name': sent.get('name'), 'type': sent.get('data_type'), 'count': entity.stored | length}, [
        (sent and not is_number and sent.data_type | replace(' ', '') not in ['string', 'array<string>'],
         "events.columns_sent names '%(name)s', which is %(type)s; accepted are array<string>, string (names with commas between them, or a JSON "
         'array) and whole numbers (a bit for each column that is no control column, the lowest for the first): correct it'),
        (is_number and entity.stored | length > 62,
         "events.columns_sent names '%(name)s', a number of 63 bits, for %(count)s columns: take a list of names"),
    ])) -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The codes as texts, of which YAML may have read 1 as a number and true as a boolean, with their
    operations. -#}
{%- macro _flagged_rows_codes(events) -%}
    {%- set codes = {} -%}
    {%- for code, operation in (events.get('codes') or {}).items() -%}
        {%- set text = code | string | lower if code is boolean else code | string -%}
        {%- if text not in codes -%}{%- do codes.update({text: operation}) -%}{%- endif -%}
    {%- endfor -%}
    {%- for operation in ['insert', 'update', 'delete'] if not events.get('codes') -%}
        {%- for code in [operation[0] | upper, operation | upper, operation[0], operation] -%}
            {%- do codes.update({code: operation}) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(codes) }}
{%- endmacro -%}
