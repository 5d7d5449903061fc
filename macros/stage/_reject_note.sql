{#- The note on a rejected row: JSON with what is wrong, column by column, and the row as it came in. -#}
{%- macro _reject_note(entity) -%}
to_json(named_struct(
    'reasons', array_compact(array(
        {{ spark_cdc._landing_problem_reason(entity) }}
        {%- for column in entity.columns %}
        {%- set condition = spark_cdc._reject_condition(column, spark_cdc._raw(column), column.sql, entity.source.text) %}
        {%- if condition %},
        if(
            {{ condition }},
            {{ spark_cdc._reject_reason(column) }},
            null
        )
        {%- endif %}
        {%- endfor %}
        {%- if 'duplicate_keys' in entity.quarantine %},
        if(repeated_key_hash is not null, concat({{ spark_cdc._literal(spark_cdc._repeated_reason()) }}, ' (', repeated_rows, ' rows)'), null)
        {%- endif %}
    )),
    'row', named_struct(
        {%- for column in entity.columns %}
        {{ spark_cdc._literal(column.from) }}, {{ spark_cdc._raw(column) }}{{ ',' if not loop.last }}
        {%- endfor %}
    ),
    'text', {{ spark_cdc._landing_problem_text(entity) }}
))
{%- endmacro -%}
