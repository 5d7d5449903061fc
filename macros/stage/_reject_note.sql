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
