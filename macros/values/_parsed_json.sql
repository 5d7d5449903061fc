{#- JSON text of an array, struct or map, parsed as {value, problem}; problem is not null where any part of it does
    not fit the type (Spark would put null there and say nothing). Times without a zone are of the one given, never of the session's. -#}
{%- macro _parsed_json(raw, type, timezone) -%}
from_json(concat('{"value":', {{ raw }}, '}'), {{ spark_cdc._literal('value ' ~ type ~ ', problem string') }}, {# -#}
map('columnNameOfCorruptRecord', 'problem', 'timeZone', {{ spark_cdc._literal(timezone) }}))
{%- endmacro -%}
