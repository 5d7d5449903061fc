{#- The note on an event that can't be accepted: JSON with what is wrong and what came in; null for the others. -#}
{%- macro _event_note(entity) -%}
{%- set reasons = spark_cdc._event_note_reasons(entity) -%}
if(
    {{ spark_cdc._is_any_found(reasons) | indent(4) }},
    to_json(named_struct(
        'reasons', {{ spark_cdc._texts_found(reasons) | indent(8) }},
        'row', {{ spark_cdc._event_note_row(entity) }}
        {%- if not entity.events.is_message %},
        'text', {{ spark_cdc._landing_problem_text(entity) }}
        {%- endif %}
    )),
    null
)
{%- endmacro -%}


{#- What may be wrong with an event: a list of expressions, each a text or null. -#}
{%- macro _event_note_reasons(entity) -%}
    {%- set operations = ['insert', 'update', 'upsert', 'delete', 'truncate', 'read', 'control'] -%}
    {%- set reasons = ['event_problem'] -%}
    {%- if not entity.events.is_message -%}
        {%- do reasons.append(spark_cdc._landing_problem_reason(entity)) -%}
    {%- endif -%}
    {%- set unknown -%}
if(event_problem is null and not coalesce(event_op in ({{ spark_cdc._literals(operations) }}), false), {# -#}
concat('operation ', coalesce(concat('\'', event_op, '\''), 'missing'), '; accepted are {{ operations | join(', ') }}'), null)
    {%- endset -%}
    {%- set unplaced -%}
if(event_problem is null and event_op not in ('control', 'read') and final_position is null, 'the position in the order of events is missing', null)
    {%- endset -%}
    {%- do reasons.extend([unknown, unplaced]) -%}
    {%- if entity.events.insert_only -%}
        {%- do reasons.append("if(event_op in ('update', 'delete', 'truncate'), concat(event_op, ' in an entity that is insert_only'), null)") -%}
    {%- endif -%}
    {%- if entity.source.on_unexpected_column == 'error' and entity.events.is_message -%}
        {%- do reasons.append("if(size(event_unexpected) > 0, concat('unexpected columns: ', array_join(event_unexpected, ', ')), null)") -%}
    {%- endif -%}
    {%- for column in entity.columns if column.role != 'control' or column in spark_cdc._event_order_columns(entity) or not entity.events.is_message -%}
        {%- set condition = spark_cdc._reject_condition(column, spark_cdc._raw(column), column.sql, entity.source.text) -%}
        {%- if condition -%}
            {%- set reason -%}
if(event_problem is null and {{ spark_cdc._event_note_applies(entity, column) }} and ({{ condition }}), {{ spark_cdc._reject_reason(column) }}, null)
            {%- endset -%}
            {%- do reasons.append(reason) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for old in spark_cdc._old_keys(entity) -%}
        {%- set raw = spark_cdc._raw(old) -%}
        {%- set reason -%}
if(event_problem is null and {{ raw }} is not null and {{ old.sql }} is null, {# -#}
concat({{ spark_cdc._literal('old ' ~ old.of.name ~ ': ') }}, {{ spark_cdc._shown(raw) }}, {# -#}
{{ spark_cdc._literal(' is not accepted as ' ~ old.data_type) }}), null)
        {%- endset -%}
        {%- do reasons.append(reason) -%}
    {%- endfor -%}
    {{ return(reasons) }}
{%- endmacro -%}


{#- When a column's value has to be right: keys wherever a row is named, others where the event brings a row. -#}
{%- macro _event_note_applies(entity, column) -%}
{%- set name = spark_cdc._literal(column.name) -%}
{%- if column.role == 'key' -%}
coalesce(event_op not in ('truncate', 'control'), false)
{%- if entity.events.unique_keys %} and not (event_op = 'delete' and {{ spark_cdc._event_key_old_alternate(entity) }} is not null){% endif -%}
{%- elif column.role == 'control' -%}
coalesce(event_op <> 'control', false)
{%- else -%}
coalesce(event_op in ('insert', 'update', 'upsert', 'read'), false) and not coalesce(array_contains(event_unavailable, {{ name }}), false) {# -#}
and (event_op in ('insert', 'read') or not coalesce(array_contains(event_absent, {{ name }}), false))
{%- endif -%}
{%- endmacro -%}


{#- What is shown of an event that can't be accepted. -#}
{%- macro _event_note_row(entity) -%}
{%- if entity.events.is_message -%}
named_struct('message', landing_message, 'operation', event_op, 'position', event_position, 'before', event_before, {# -#}
'after', coalesce(event_after, event_before))
{%- else -%}
named_struct({% for column in entity.columns %}{{ spark_cdc._literal(column.from) }}, {{ spark_cdc._raw(column) }}{{ ', ' if not loop.last }}{% endfor %})
{%- endif -%}
{%- endmacro -%}
