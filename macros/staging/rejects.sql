{#- What may be wrong with the columns of a row or an event, column by column: dictionaries with column (name), condition (never null) and
    reason (expression of a text). Columns of messages that are neither stored nor give an order are not read. -#}
{%- macro _reject_faults(entity) -%}
    {%- set is_message = entity.events and entity.events.is_message -%}
    {%- set read = entity.stored + spark_cdc._event_order_columns(entity) if is_message else entity.columns -%}
    {%- set faults = [] -%}
    {%- for column in entity.columns if column in read -%}
        {%- set raw, applies = spark_cdc._raw(column), spark_cdc._reject_faults_of(entity, column) -%}
        {%- set condition = spark_cdc._reject_condition(column, raw, column.sql, entity.source.text, entity) -%}
        {%- set plain = spark_cdc._cast_whatever_the_table(column, raw, entity.source.text, entity.timezone) if column.in_orc else '' -%}
        {%- set misfit = spark_cdc._orc_misfit(spark_cdc._hash_type(column.data_type), '(' ~ plain ~ ')') if plain else '' -%}
        {%- set hint = spark_cdc._number_hint(column, raw) if entity.source.text else '' -%}
        {%- set reason -%}
concat({{ spark_cdc._literal(column.name ~ ': ') }}, coalesce({{ spark_cdc._shown(raw) }}, 'null'), {# -#}
{{ spark_cdc._literal(' is not accepted as ' ~ column.data_type ~ ('' if column.nullable else ' not null')) }}
{%- if misfit %}, if({{ misfit }}, ' in an ORC ledger, which keeps no date of 1582-10-05 to 1582-10-14 and no fraction of the second before 1970: {# -#}
take file_format: parquet', ''){% endif %}
        {{- ', ' ~ hint if hint }})
        {%- endset -%}
        {%- if condition -%}
            {%- set condition = applies ~ ' and (' ~ condition ~ ')' if applies else condition -%}
            {%- do faults.append({'column': column.name, 'condition': condition, 'reason': reason}) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(faults) }}
{%- endmacro -%}


{#- When a column's value has to be right, as a condition; an empty text: always. Keys have to wherever a row is named, others where one is
    brought. -#}
{%- macro _reject_faults_of(entity, column) -%}
{%- set name = spark_cdc._literal(column.name) -%}
{%- if not entity.events -%}
{{ 'not is_deleted' if entity.deleted_when is not none and column.role not in ['key', 'control'] }}
{%- elif column.role == 'key' -%}
event_problem is null and coalesce(event_op not in ('truncate', 'control'), false)
{%- if entity.events.unique_keys %} and not (event_op = 'delete' and {{ spark_cdc._event_key_old_alternate(entity) }} is not null){% endif -%}
{%- elif column.role == 'control' -%}
event_problem is null and coalesce(event_op <> 'control', false)
{%- else -%}
event_problem is null and {# -#}
coalesce(event_op in ('insert', 'update', 'upsert', 'read'), false) and not coalesce(array_contains(event_unavailable, {{ name }}), false) {# -#}
and (event_op in ('insert', 'read') or not coalesce(array_contains(event_absent, {{ name }}), false))
{%- endif -%}
{%- endmacro -%}


{#- The note on a rejected row, as JSON: kind (null_keys: a part of the key is null, duplicate_keys: nothing is wrong but that the
    key comes more than once, failed_rules, dropped_rows: nothing but that it breaks a rule which stops the load or drops the row, failed_casts: all else),
    columns (names of those whose values are not accepted), reasons (texts), rules (names of those that it
    breaks), row (as it came in), text (of a row that could not be taken apart). -#}
{%- macro _reject_note(entity) -%}
{%- set faults = spark_cdc._reject_faults(entity) -%}
{%- set rules = entity.rules -%}
to_json(named_struct(
    'kind', case
        when {{ spark_cdc._any_null(entity.key_columns) }} then 'null_keys'
        {%- if 'duplicate_keys' in entity.quarantine %}
        when not is_rejected and repeated_key_hash is not null then 'duplicate_keys'
        {%- endif %}
        {%- for action, kind in [('fail', 'failed_rules'), ('drop', 'dropped_rows')] if spark_cdc._rule_mask(rules, [action]) %}
        when {{ spark_cdc._rule_is_broken(rules, [action]) }} then '{{ kind }}'
        {%- endfor %}
        else 'failed_casts'
    end,
    'columns', array_compact(array(
        {%- for fault in faults %}
        if({{ fault.condition }}, {{ spark_cdc._literal(fault.column) }}, null){{ ',' if not loop.last }}
        {%- endfor %}
    )),
    'reasons', array_compact(array(
        {{ spark_cdc._landing_problem_reason(entity) }}
        {%- for fault in faults %},
        if(
            {{ fault.condition }},
            {{ fault.reason }},
            null
        )
        {%- endfor %}
        {%- if 'duplicate_keys' in entity.quarantine %},
        if(repeated_key_hash is not null, concat('the key comes more than once in the load (', repeated_rows, ' rows)'), null)
        {%- endif %}
        {%- for reason in spark_cdc._rule_reasons(rules) %},
        {{ reason }}
        {%- endfor %}
    )),
    {%- if rules %}
    'rules', {{ spark_cdc._rule_names(rules) | indent(4) }},
    {%- endif %}
    'row', named_struct(
        {%- for column in entity.columns %}
        {{ spark_cdc._literal(column.from) }}, {{ spark_cdc._raw(column) }}{{ ',' if not loop.last }}
        {%- endfor %}
    ),
    'text', {{ spark_cdc._landing_problem_text(entity) }}
))
{%- endmacro -%}


{#- Which rules a row breaks, as a number with a bit for each, in their order; 0 where none is judged. A condition that is null is not broken, as in a
    CHECK of SQL. Arguments: rules (of _rules()), applies (condition: whether the row is one to be judged). -#}
{%- macro _rule_bits(rules, applies) -%}
if(
    {{ applies }},
    {%- for rule in rules %}
    {{ '| ' if not loop.first }}if(coalesce(({{ rule.condition }}), true), 0L, {{ 2 ** loop.index0 }}L){{ ',' if loop.last }}
    {%- endfor %}
    0L
)
{%- endmacro -%}


{#- The bits of the rules with one of some actions, as a number. -#}
{%- macro _rule_mask(rules, actions) -%}
    {%- set at = namespace(mask=0) -%}
    {%- for rule in rules if rule.action in actions -%}
        {%- set at.mask = at.mask + 2 ** (rules.index(rule)) -%}
    {%- endfor -%}
    {{ return(at.mask) }}
{%- endmacro -%}


{#- Whether a row breaks a rule with one of some actions, as SQL; nothing where there is no such rule. -#}
{%- macro _rule_is_broken(rules, actions, bits='rule_bits') -%}
{%- set mask = spark_cdc._rule_mask(rules, actions) -%}
{{ bits ~ ' & ' ~ mask ~ 'L <> 0' if mask }}
{%- endmacro -%}


{#- The names of the rules that a row breaks, as an array in SQL. -#}
{%- macro _rule_names(rules, bits='rule_bits') -%}
array_compact(array(
    {%- for rule in rules %}
    if({{ bits }} & {{ 2 ** loop.index0 }}L <> 0, {{ spark_cdc._literal(rule.name) }}, null){{ ',' if not loop.last }}
    {%- endfor %}
))
{%- endmacro -%}


{#- What the note on a row that is set aside says of its rules: names, and reasons in words. -#}
{%- macro _rule_reasons(rules, bits='rule_bits') -%}
    {%- set reasons = [] -%}
    {%- for rule in rules if rule.action != 'warn' -%}
        {%- set what = 'the rule ' ~ rule.name ~ ' is broken: ' ~ rule.condition -%}
        {%- do reasons.append('if(' ~ bits ~ ' & ' ~ 2 ** rules.index(rule) ~ 'L <> 0, ' ~ spark_cdc._literal(what) ~ ', null)') -%}
    {%- endfor -%}
    {{ return(reasons) }}
{%- endmacro -%}


{#- The note of a staged row as the ledger has it: why it is rejected, or the rules that warn of it. -#}
{%- macro _rule_noted(entity) -%}
{{ 'coalesce(note, broken_rules) as note' if spark_cdc._rule_mask(entity.rules, ['warn']) else 'note' }}
{%- endmacro -%}


{#- What warnings are noted as on a row that counts: the names of the rules it breaks, with commas between; null where it breaks none. -#}
{%- macro _rule_warnings(rules, bits='rule_bits') -%}
if(
    {{ bits }} = 0,
    null,
    concat_ws(
        ',',
        {%- for rule in rules %}
        if({{ bits }} & {{ 2 ** loop.index0 }}L <> 0, {{ spark_cdc._literal(rule.name) }}, null){{ ',' if not loop.last }}
        {%- endfor %}
    )
)
{%- endmacro -%}
