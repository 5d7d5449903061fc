{#- Whether a message is more than one JSON object: from_json would read the first and drop the rest. Its parts are counted as those
    of an array, which takes no longer than a regular expression and finds more: only a `]` between two objects ends the array unseen.
    What is not counted as one is parsed as from_json does, which accepts more, such as NaN. Returns a condition that is never null. -#}
{%- macro _is_several_documents(message) -%}
    {{ return('(' ~ message ~ ' is not null and coalesce(json_array_length(concat(\'[\', ' ~ message ~ ", ']')), 0) <> 1 and coalesce(size("
        ~ "from_json(concat('[', " ~ message ~ ", ']'), 'array<string>')), 0) <> 1)") }}
{%- endmacro -%}


{%- macro _several_documents_text() -%}
    {{ return('more than one JSON object in a message, or text behind it; accepted is one object a line') }}
{%- endmacro -%}


{#- Whether a message is empty: a tombstone, or an empty line. Returns a condition that is never null. -#}
{%- macro _is_no_document(message) -%}
    {{ return("coalesce(trim(" ~ message ~ "), '') = ''") }}
{%- endmacro -%}


{#- Whether a change is one of another table than the entity's. `events.table` is the table's name, alone or with what
    stands before it; without the setting all changes count. Arguments: entity, table (expression), qualifier
    (expression of the schema or database; none where the table's own text holds it). Returns a condition that is never
    null. -#}
{%- macro _is_other_table(entity, table, qualifier=none) -%}
    {%- set wanted = entity.events.get('table') -%}
    {%- if not wanted -%}{{ return('false') }}{%- endif -%}
    {%- set found = table -%}
    {%- if '.' in wanted and qualifier is not none -%}
        {%- set found = "concat_ws('.', " ~ qualifier ~ ', ' ~ table ~ ')' -%}
    {%- elif '.' not in wanted and qualifier is none -%}
        {%- set found = 'substring_index(' ~ table ~ ", '.', -1)" -%}
    {%- endif -%}
    {{ return('not coalesce(' ~ found ~ ' = ' ~ spark_cdc._literal(wanted) ~ ', true)') }}
{%- endmacro -%}
