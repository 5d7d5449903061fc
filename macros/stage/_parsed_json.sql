{#- JSON text of an array, struct or map, parsed as {value, problem}; problem is not null where any part of it does
    not fit the type (Spark would put null there and say nothing). -#}
{%- macro _parsed_json(raw, type) -%}
from_json(concat('{"value":', {{ raw }}, '}'), {{ spark_cdc._literal('value ' ~ type ~ ', problem string') }}, {# -#}
map('columnNameOfCorruptRecord', 'problem'))
{%- endmacro -%}
