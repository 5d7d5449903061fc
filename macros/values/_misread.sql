{#- Whether from_json would read something else than a message holds, and say nothing. Returns a condition that is never null. -#}
{%- macro _is_misread(message) -%}
({{ spark_cdc._misread_as_one(message) }} or {{ spark_cdc._misread_surrogate(message) }})
{%- endmacro -%}


{#- What is wrong with a message of which _is_misread() is true, as an expression. -#}
{%- macro _misread_text(message) -%}
{%- set surrogate = 'half of a surrogate pair (\\ud800 to \\udfff), which is no character; accepted are pairs' -%}
{%- set several = 'more than one JSON object in a message, or text behind it; accepted is one object a line' -%}
if({{ spark_cdc._misread_surrogate(message) }}, {{ spark_cdc._literal(surrogate) }}, {{ spark_cdc._literal(several) }})
{%- endmacro -%}


{#- More than one JSON object: from_json would read the first and drop the rest. Its parts are counted as those of an array, which takes no
    longer than a regular expression and finds more: only a `]` between two objects ends the array unseen. What is not counted as one
    is parsed as from_json does, which accepts more, such as NaN. -#}
{%- macro _misread_as_one(message) -%}
({{ message }} is not null and coalesce(json_array_length(concat('[', {{ message }}, ']')), 0) <> 1 {# -#}
and coalesce(size(from_json(concat('[', {{ message }}, ']'), 'array<string>', map({{ spark_cdc._json_limits() }}))), 0) <> 1)
{%- endmacro -%}


{#- Half of a pair of \u escapes: from_json would make it a question mark. Pairs, and other escapes, are taken out first. -#}
{%- macro _misread_surrogate(message) -%}
{%- set whole = spark_cdc._literal('\\\\([^u]|u[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F])') -%}
if(contains({{ message }}, '\\u') and (contains({{ message }}, '\\ud') or contains({{ message }}, '\\uD')), {# -#}
regexp_replace({{ message }}, {{ whole }}, '') rlike {{ spark_cdc._literal('\\\\u[dD][89a-fA-F]') }}, false)
{%- endmacro -%}
