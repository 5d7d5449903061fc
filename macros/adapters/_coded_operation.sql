{#- What happened, from a column that holds a code for it. The code '' stands for nothing: null or an empty text.
    Arguments: sql (the column, of any type), codes (mapping of code, a text, to operation). Returns an expression: the
    operation, or null where the code is unknown. -#}
{%- macro _coded_operation(sql, codes) -%}
case coalesce(cast({{ sql }} as string), '')
    {%- for code, operation in codes.items() %}
    when {{ spark_cdc._literal(code) }} then {{ spark_cdc._literal(operation) }}
    {%- endfor %}
end
{%- endmacro -%}


{#- What is wrong with the code in the column of a name, in words; null if nothing is. -#}
{%- macro _coded_operation_problem(name, sql, codes) -%}
{% set accepted %} in {{ name }}; accepted are {{ codes | map('default', 'nothing', true) | join(', ') }}{% endset -%}
if(
    coalesce(cast({{ sql }} as string), '') in ({{ spark_cdc._literals(codes) }}), null,
    concat('unknown operation ', coalesce({{ spark_cdc._shown(sql) }}, 'null'), {{ spark_cdc._literal(accepted) }})
)
{%- endmacro -%}
