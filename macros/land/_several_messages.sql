{#- Whether a message is more than one JSON object: from_json would read the first and drop the rest. Its parts are counted as those
    of an array, which takes no longer than a regular expression and finds more: only a `]` between two objects ends the array unseen.
    What is not counted as one is parsed as from_json does, which accepts more, such as NaN. Returns a condition that is never null. -#}
{%- macro _is_several_messages(message) -%}
({{ message }} is not null and coalesce(json_array_length(concat('[', {{ message }}, ']')), 0) <> 1 {# -#}
and coalesce(size(from_json(concat('[', {{ message }}, ']'), 'array<string>')), 0) <> 1)
{%- endmacro -%}


{%- macro _several_messages_text() -%}
'more than one JSON object in a message, or text behind it; accepted is one object a line'
{%- endmacro -%}
