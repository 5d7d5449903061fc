{#- The note on an event that can't be accepted, as _reject_note() has it for rows; null for the others. -#}
{%- macro _event_note(entity) -%}
{%- set faults = spark_cdc._event_note_faults(entity) -%}
{%- set columns = [] -%}
{%- for column in entity.columns if column.name in faults | map(attribute='column') -%}
    {%- set conditions = faults | selectattr('column', 'equalto', column.name) | map(attribute='condition') | join(' or ') -%}
    {%- do columns.append('if(' ~ conditions ~ ', ' ~ spark_cdc._literal(column.name) ~ ', null)') -%}
{%- endfor -%}
{%- set reasons = [] -%}
{%- for fault in faults -%}{%- do reasons.append('if(' ~ fault.condition ~ ', ' ~ fault.reason ~ ', null)') -%}{%- endfor -%}
if(
    {{ faults | map(attribute='condition') | join('\n    or ') }},
    to_json(named_struct(
        'kind', if({{ spark_cdc._event_key_is_missing(entity) }}, 'null_keys', 'failed_casts'),
        'columns', {{ spark_cdc._texts_found(columns) | indent(8) }},
        'reasons', {{ spark_cdc._texts_found(reasons) | indent(8) }},
        {% if entity.events.is_message -%}
        'row', named_struct('message', landing_message, 'operation', event_op, 'position', event_position, 'before', event_before, {# -#}
        'after', coalesce(event_after, event_before))
        {%- else -%}
        'row', named_struct({# -#}
        {%- for column in entity.columns -%}
        {{ spark_cdc._literal(column.from) }}, {{ spark_cdc._raw(column) }}{{ ', ' if not loop.last }}
        {%- endfor -%}
        ),
        'text', {{ spark_cdc._landing_problem_text(entity) }}
        {%- endif %}
    )),
    null
)
{%- endmacro -%}


{#- What may be wrong with an event: a list of dictionaries with column (name; none where it is no column's fault), condition and
    reason (expression of a text). A new image can have a name twice only where it has more names than the columns found in it; event_unexpected is
    not null then. -#}
{%- macro _event_note_faults(entity) -%}
    {%- set operations, is_message = spark_cdc._event_operations(), entity.events.is_message -%}
    {%- set unknown -%}
concat('operation ', coalesce(concat('\'', event_op, '\''), 'missing'), '; accepted are {{ operations | join(', ') }}')
    {%- endset -%}
    {%- set no_tie = spark_cdc._any_null(entity.events.tie_breaker) if entity.events.tie_breaker else 'false' -%}
    {%- set needs_position = "event_problem is null and event_op not in ('control', 'read')" -%}
    {%- set position = spark_cdc._adapter_format(entity.events.format).position or entity.events.order | map(attribute='name') | join(', ') -%}
    {%- set faults = [] -%}
    {%- for wanted, condition, reason in [
        (true, 'event_problem is not null', 'event_problem'),
        (not is_message, 'landing_problem is not null', spark_cdc._landing_problem_reason(entity)),
        (true, 'event_problem is null and not coalesce(event_op in (' ~ spark_cdc._literals(operations) ~ '), false)', unknown),
        (entity.events.tie_breaker, needs_position ~ ' and (' ~ no_tie ~ ')',
         spark_cdc._literal('the tie_breaker ' ~ entity.events.tie_breaker | map(attribute='name') | join(', ') ~ ' is null')),
        (true, needs_position ~ ' and final_position is null and not (' ~ no_tie ~ ')',
         spark_cdc._literal('the position in the order of events is missing' ~ (': ' ~ position if position))),
        (entity.events.insert_only, "event_op in ('update', 'delete', 'truncate')", "concat(event_op, ' in an entity that is insert_only')"),
        (is_message, '(event_after is null or event_unexpected is not null) and ' ~ spark_cdc._has_repeated_names('coalesce(event_after, event_before)'),
         "'a name more than once in a JSON object'"),
        (is_message and entity.source.on_unexpected_column == 'error', 'size(event_unexpected) > 0',
         "concat('unexpected columns: ', array_join(event_unexpected, ', '))"),
    ] if wanted -%}
        {%- do faults.append({'column': none, 'condition': condition, 'reason': reason}) -%}
    {%- endfor -%}
    {%- do faults.extend(spark_cdc._reject_faults(entity)) -%}
    {%- for old in spark_cdc._old_keys(entity) -%}
        {%- set raw = spark_cdc._raw(old) -%}
        {%- set reason -%}
concat({{ spark_cdc._literal('old ' ~ old.of.name ~ ': ') }}, {{ spark_cdc._shown(raw) }}, {# -#}
{{ spark_cdc._literal(' is not accepted as ' ~ old.data_type) }})
        {%- endset -%}
        {%- set lossy = spark_cdc._reject_loss_condition(old, raw, old.sql, entity) -%}
        {%- set lossy = ' or ' ~ lossy if lossy -%}
        {%- set condition = 'event_problem is null and ' ~ raw ~ ' is not null and (' ~ old.sql ~ ' is null' ~ lossy ~ ')' -%}
        {%- do faults.append({'column': old.of.name, 'condition': condition, 'reason': reason}) -%}
    {%- endfor -%}
    {{ return(faults) }}
{%- endmacro -%}
