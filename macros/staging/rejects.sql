{#- What may be wrong with a row, or with the columns of an event: dictionaries with column (name;
    none: the row as a whole), condition (never null) and either reason (expression of a text) or
    what _fault_reason() makes one of: raw and accepted (expressions of a value and of a text) and
    is_number; text columns of rows also with doubt (of _reject_doubt()) and shared (of
    _fault_bits_of_many()). Columns of messages that are neither stored nor give an order are not
    read. -#}
{%- macro _reject_faults(entity) -%}
    {%- set is_message = entity.events and entity.events.is_message -%}
    {%- set read = entity.stored + spark_cdc._event_order_columns(entity) if is_message else entity.columns -%}
    {%- set faults = [] -%}
    {%- if not entity.events -%}{%- do faults.append(spark_cdc._landing_fault(entity)) -%}{%- endif -%}
    {%- for column in entity.columns if column in read -%}
        {%- set raw, applies = spark_cdc._raw(column), spark_cdc._reject_faults_of(entity, column) -%}
        {%- set condition = spark_cdc._reject_condition(column, raw, column.sql, entity.source.text, entity) -%}
        {%- set plain = spark_cdc._cast(dict(column, in_orc=false), raw, entity.source.text, entity.timezone) if column.in_orc else '' -%}
        {%- set misfit = spark_cdc._orc_misfit(spark_cdc._hash_type(column.data_type), '(' ~ plain ~ ')') if plain else '' -%}
        {%- set accepted = spark_cdc._literal(column.data_type ~ ('' if column.nullable else ' not null')) -%}
        {%- if misfit -%}
            {%- set accepted -%}
concat({{ accepted }}, if({{ misfit }}, ' in an ORC ledger, which keeps no date of 1582-10-05 to 1582-10-14 and no fraction {# -#}
of the second before 1970: take file_format: parquet', ''))
            {%- endset -%}
        {%- endif -%}
        {%- if condition -%}
            {%- set fault = {'column': column.name, 'raw': raw, 'accepted': accepted, 'condition': applies ~ ' and (' ~ condition ~ ')' if applies else condition,
                'is_number': entity.source.text and spark_cdc._is_plain_number(column)} -%}
            {%- if entity.source.text and not entity.events -%}
                {%- set doubt = spark_cdc._reject_doubt(column, raw, column.sql) -%}
                {%- set shared = spark_cdc._reject_condition(column, 'cdc__one.raw', 'cdc__one.value', true, entity) -%}
                {%- do fault.update({
                    'doubt': applies ~ ' and (' ~ doubt ~ ')' if applies and doubt else doubt,
                    'shared': {'type': column.data_type, 'condition': shared, 'value': column.sql, 'applies': applies},
                }) -%}
            {%- endif -%}
            {%- do faults.append(fault) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(faults) }}
{%- endmacro -%}


{#- When a column's value has to be right, as a condition; an empty text: always. Keys have to
    wherever a row is named, others where one is brought. -#}
{%- macro _reject_faults_of(entity, column) -%}
{%- set name = spark_cdc._literal(column.name) -%}
{%- if not entity.events -%}
{{ 'not cdc__deleted' if entity.deleted_when is not none and column.role not in ['key', 'control'] }}
{%- elif column.role == 'key' -%}
event_problem is null and coalesce(event_op not in ('truncate', 'control'), false)
{%- if entity.events.unique_keys %} and not (event_op = 'delete' and {{ spark_cdc._event_key_old_alternate(entity) }} is not null){% endif -%}
{%- elif column.role == 'control' -%}
event_problem is null and coalesce(event_op <> 'control', false)
{%- else -%}
cdc__brings_row and not coalesce(array_contains(event_unavailable, {{ name }}), false) {# -#}
and (event_op in ('insert', 'read') or not coalesce(array_contains(event_absent, {{ name }}), false))
{%- endif -%}
{%- endmacro -%}


{#- A row that could not be taken apart. Of JSON cdc__unparsed is what is wrong and, after a line
    break, the text of the row; of CSV it is that text. -#}
{%- macro _landing_fault(entity) -%}
    {%- set reason = "concat('the fields of the row do not match the header: ', left(cdc__unparsed, 200))" if entity.source.facts.has_header
        else 'substring_index(cdc__unparsed, char(10), 1)' if entity.source.facts.has_names else 'cdc__unparsed' -%}
    {{ return({'column': none, 'condition': 'cdc__unparsed is not null', 'reason': reason}) }}
{%- endmacro -%}


{#- Faults with the bit that stands for each (`bits`: the column that has it, 60 in each), and with
    `is_found`: whether a judged row has the fault. -#}
{%- macro _numbered_faults(faults) -%}
    {%- set numbered = [] -%}
    {%- for some in faults | batch(60) -%}
        {%- set bits = 'cdc__faults' ~ ('_' ~ loop.index if loop.index > 1 else '') -%}
        {%- for fault in some -%}
            {%- set bit = 2 ** loop.index0 ~ 'L' -%}
            {%- do numbered.append(dict(fault, bits=bits, bit=bit, is_found=bits ~ ' & ' ~ bit ~ ' <> 0')) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(numbered) }}
{%- endmacro -%}


{#- The bits of a row, as columns: each condition is judged once, here. -#}
{%- macro _fault_bits(faults) -%}
    {%- for bits in faults | map(attribute='bits') | unique -%}
        {%- for fault in faults if fault.bits == bits %}
{{ '| ' if not loop.first }}if({{ fault.condition }}, {{ fault.bit }}, 0L){{ ' as ' ~ bits if loop.last }}
        {%- endfor -%}
        {{- ',' if not loop.last }}
    {%- endfor -%}
{%- endmacro -%}


{#- Whether a judged row has any fault. -#}
{%- macro _has_fault(faults) -%}
{{ faults | map(attribute='bits') | unique | join(' | ') }} <> 0
{%- endmacro -%}


{#- The note on a row that is validated only if a cheap condition, in the projection that hashes it,
    finds something that may be wrong. Lambdas give the bits their names, and are not compiled.
    Arguments: faults (numbered), note (expression over their bits). -#}
{%- macro _note_in_doubt(faults, note) -%}
{%- set doubts, names = [], faults | map(attribute='bits') | unique | list -%}
{%- for fault in faults -%}{%- do doubts.append(fault.get('doubt') or fault.condition) -%}{%- endfor -%}
if(
    {{ doubts | join('\n    or ') }},
    {% for bits in names -%}
    transform(array(
        {{- spark_cdc._fault_bits_of_many(faults | selectattr('bits', 'equalto', bits) | list) | indent(8) }}
    ), {{ bits }} -> {% endfor -%}
    if({{ spark_cdc._has_fault(faults) }}, {{ note | indent(4) }}, null)
    {%- for bits in names %})[0]{% endfor %},
    null
)
{%- endmacro -%}


{#- The bits of a row, for an entity of which few rows are validated: columns of one type share a
    long condition, which takes their values one by one. Argument: faults (numbered, of one
    number). -#}
{%- macro _fault_bits_of_many(faults) -%}
{%- set groups, shared, bits, parts = {}, [], [], [] -%}
{%- for fault in faults if fault.get('shared') and fault.shared.condition | length > 100 -%}
    {%- set key = fault.shared.type ~ ': ' ~ fault.shared.condition -%}
    {%- do groups.update({key: groups.get(key) or {'condition': fault.shared.condition, 'faults': []}}) -%}
    {%- do groups[key].faults.append(fault) -%}
{%- endfor -%}
{%- for group in groups.values() if group.faults | length > 1 -%}
    {%- do shared.append(group) -%}
    {%- do bits.extend(group.faults | map(attribute='bit') | list) -%}
{%- endfor -%}
{%- for fault in faults if fault.bit not in bits -%}
    {%- do parts.append('if(' ~ fault.condition ~ ', ' ~ fault.bit ~ ', 0L)') -%}
{%- endfor -%}
{%- for group in shared -%}
    {%- set values = [] -%}
    {%- for fault in group.faults -%}
        {%- set bit = 'if(' ~ fault.shared.applies ~ ', ' ~ fault.bit ~ ', 0L)' if fault.shared.applies else fault.bit -%}
        {%- do values.append('struct(' ~ bit ~ ' as bit, ' ~ fault.raw ~ ' as raw, ' ~ fault.shared.value ~ ' as value)') -%}
    {%- endfor -%}
    {%- do parts.append('aggregate(array(\n    ' ~ values | join(',\n    ') ~ '\n), 0L, (cdc__bits, cdc__one) -> cdc__bits | if('
        ~ group.condition ~ ', cdc__one.bit, 0L))') -%}
{%- endfor %}
{{ parts | join('\n| ') }}
{%- endmacro -%}


{#- The note on a rejected row, as JSON: kind (null_keys: a part of the key is null, duplicate_keys:
    nothing is wrong but that the key comes more than once, failed_rules, dropped_rows: nothing but
    that it breaks a rule which stops the load or drops the row, failed_casts: all else), columns
    (names of those whose values are not accepted), reasons (texts), rules (names of those that it
    breaks), row (as it came in), text (of a row that could not be taken apart).
    Arguments: entity, kind (expression), faults (numbered), reasons (further expressions), rules
    (whether rules have judged the row). -#}
{%- macro _reject_note(entity, kind, faults, reasons=[], rules=[]) -%}
{%- set found = [] -%}
{%- for fault in faults -%}
    {%- set name = spark_cdc._literal(fault.column) if fault.column else 'null' -%}
    {%- if 'reason' in fault -%}
        {%- set texts = [name, fault.reason] -%}
    {%- else -%}
        {%- set value = fault.raw if entity.source.text else 'cast(' ~ fault.raw ~ ' as string)' -%}
        {%- set texts = [name, 'null', value, fault.accepted] + (["'number'"] if fault.is_number else []) -%}
    {%- endif -%}
    {%- do found.append('if(' ~ fault.is_found ~ ', array(' ~ texts | join(', ') ~ '), null)') -%}
{%- endfor -%}
{%- set in_words -%}transform(cdc__found, cdc__fault -> {{ spark_cdc._fault_reason(faults) }}){%- endset -%}
{#- array_compact() is not compiled; compiled, judging once gained nothing (docs/benchmarks.md) -#}
to_json(transform(array(array_compact(array(
    {{ found | join(',\n    ') }}
))), cdc__found -> named_struct(
    'kind', {{ kind | indent(4) }},
    'columns', array_compact(array_distinct(transform(cdc__found, cdc__fault -> cdc__fault[0]))),
    'reasons', {{ 'concat(' ~ in_words ~ ', ' ~ spark_cdc._texts_found(reasons) | indent(4) ~ ')' if reasons else in_words }},
    {%- if rules %}
    'rules', {{ spark_cdc._texts_found(spark_cdc._rule_texts(rules)) | indent(4) }},
    {%- endif %}
    {%- if entity.events and entity.events.is_message %}
    'row', named_struct('message', landing_message, 'operation', event_op, 'position', event_position, 'before', event_before, {# -#}
    'after', coalesce(event_after, event_before))
    {%- else %}
    'row', named_struct(
        {%- for column in entity.columns %}
        {{ spark_cdc._literal(column.from) }}, {{ spark_cdc._raw(column) }}{{ ',' if not loop.last }}
        {%- endfor %}
    ),
    'text', {{ 'if(contains(cdc__unparsed, char(10)), substring(cdc__unparsed, instr(cdc__unparsed, char(10)) + 1), null)'
        if entity.source.facts.has_names else 'cdc__unparsed' }}
    {%- endif %}
))[0])
{%- endmacro -%}


{#- The reason for a fault in words, of an array with the texts of _reject_note(): column, reason;
    or column, null, value, what is accepted and, of a number, a mark. -#}
{%- macro _fault_reason(faults) -%}
coalesce(cdc__fault[1], concat(
        cdc__fault[0], ': ', coalesce({{ spark_cdc._shown('get(cdc__fault, 2)') }}, 'null'), ' is not accepted as ', get(cdc__fault, 3)
        {%- if faults | selectattr('is_number', 'defined') | selectattr('is_number') | list %},
        if(size(cdc__fault) > 4, {{ spark_cdc._number_hint('get(cdc__fault, 2)') }}, '')
        {%- endif %}
    ))
{%- endmacro -%}


{#- That of a row of a full load or a delta. -#}
{%- macro _row_note(entity, faults) -%}
{%- set rules, drops_repeated = entity.rules, 'duplicate_keys' in entity.quarantine -%}
{%- set kind -%}
{%- if not entity.key_columns and not spark_cdc._rule_mask(rules, ['fail', 'drop']) -%}
'failed_casts'
{%- else -%}
case
    {%- if entity.key_columns %}
    when {{ spark_cdc._any_null(entity.key_columns) }} then 'null_keys'
    {%- endif %}
    {%- if drops_repeated %}
    when not {{ spark_cdc._has_fault(faults) }} and cdc__repeated_key_hash is not null then 'duplicate_keys'
    {%- endif %}
    {%- for action, kind in [('fail', 'failed_rules'), ('drop', 'dropped_rows')] if spark_cdc._rule_mask(rules, [action]) %}
    when {{ spark_cdc._rule_is_broken(rules, [action]) }} then '{{ kind }}'
    {%- endfor %}
    else 'failed_casts'
end
{%- endif -%}
{%- endset -%}
{%- set repeated = "if(cdc__repeated_key_hash is not null, concat('the key comes more than once in the load (', cdc__repeated_rows, ' rows)'), null)" -%}
{{ spark_cdc._reject_note(entity, kind, faults, ([repeated] if drops_repeated
        else []) + spark_cdc._rule_texts(rules, in_words=true), rules) }}
{%- endmacro -%}


{#- Which rules a row breaks, as a number with a bit for each, in their order; 0 where none is
    judged. A condition that is null is not broken, as in a CHECK of SQL. Arguments: rules (of
    _rules()), applies (condition: whether the row is one to be judged). -#}
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


{#- Whether a row breaks a rule with one of some actions, as SQL; nothing where there is no such
    rule. -#}
{%- macro _rule_is_broken(rules, actions, bits='cdc__rules') -%}
{%- set mask = spark_cdc._rule_mask(rules, actions) -%}
{{ bits ~ ' & ' ~ mask ~ 'L <> 0' if mask }}
{%- endmacro -%}


{#- For each rule a text that is null in a row that does not break it, as a list of expressions: its
    name or, of rules that do not only warn, the reason in words. -#}
{%- macro _rule_texts(rules, bits='cdc__rules', in_words=false) -%}
    {%- set texts = [] -%}
    {%- for rule in rules if not in_words or rule.action != 'warn' -%}
        {%- set text = spark_cdc._literal('the rule ' ~ rule.name ~ ' is broken: ' ~ rule.condition if in_words else rule.name) -%}
        {%- do texts.append('if(' ~ bits ~ ' & ' ~ 2 ** rules.index(rule) ~ 'L <> 0, ' ~ text ~ ', null)') -%}
    {%- endfor -%}
    {{ return(texts) }}
{%- endmacro -%}


{#- The note of a staged row as the ledger has it: why it is rejected, or the rules that warn of
    it. -#}
{%- macro _rule_noted(entity) -%}
{{ 'coalesce(cdc__note, cdc__warned) as cdc__note' if spark_cdc._rule_mask(entity.rules, ['warn']) else 'cdc__note' }}
{%- endmacro -%}


{#- What warnings are noted as on a row that counts: the names of the rules it breaks, with
    commas between; null where it breaks none. -#}
{%- macro _rule_warnings(rules, bits='cdc__rules') -%}
if(
    {{ bits }} = 0,
    null,
    concat_ws(
        ',',
        {{ spark_cdc._rule_texts(rules, bits) | join(',\n        ') }}
    )
)
{%- endmacro -%}
