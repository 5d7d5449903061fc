{#- Which events may count at all, as a condition. -#}
{%- macro _counting_event(summary, qualifier='') -%}
{{ qualifier }}note is null
and {{ qualifier }}event_op not in ('control', 'truncate')
{%- if summary.truncated %}
and {{ qualifier }}event_position > {{ spark_cdc._position_literal(summary.truncated) }}
{%- endif %}
{%- endmacro -%}
