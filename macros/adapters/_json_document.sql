{#- A message, ready to be parsed. Where a column is a decimal with more than 15 digits, numbers of the message that
    have more digits than that and a point are put between quotes: from_json reads a number with a point as a double,
    and text as it is. Nothing inside a text of the message is touched.
    Arguments: entity, message (expression). Returns an expression. -#}
{%- macro _json_document(entity, message) -%}
    {%- set wide = [] -%}
    {%- for column in entity.columns -%}
        {%- for digits in modules.re.findall('decimal *[(] *([0-9]+)', column.data_type) if digits | int > 15 -%}
            {%- do wide.append(column) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- if not wide -%}{{ return(message) }}{%- endif -%}
    {%- set number = '(?<![0-9.])(?=[0-9.]{17})(?=[0-9]*+[.][0-9])' -%}
    {#- a text, or a long number with the next quote: $3 is that quote, and nothing where a text was found; all
        quantifiers are possessive, so that no message makes the search slow -#}
    {%- set pattern = '("[^"\\\\]*+(?:\\\\.[^"\\\\]*+)*+")|(-?+' ~ number ~ '[0-9]++[.][0-9]++(?:[eE][+-]?+[0-9]++)?+)(?=[^"]*+("))' -%}
    {{ return('if(' ~ message ~ " rlike '[0-9][0-9.]{16}', regexp_replace(concat(" ~ message ~ ", ' \"'), "
        ~ spark_cdc._literal(pattern) ~ ", '$1$3$2$3'), " ~ message ~ ')') }}
{%- endmacro -%}


{#- Whether a message holds more than one JSON document, of which from_json would read the first and drop the others.
    Returns a condition that is never null. -#}
{%- macro _is_several_documents(message) -%}
    {{ return("coalesce(contains(" ~ message ~ ", '}{'), false) and from_json(concat('[', " ~ message
        ~ ", ']'), 'array<string>') is null") }}
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
