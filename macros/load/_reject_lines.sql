{#- Rejected rows, what is wrong with them and how they came in, for a message. Returns a list of texts. -#}
{%- macro _reject_lines(ledger, load, condition) -%}
    {%- set lines = [] -%}
    {%- for example in spark_cdc._query(
        'select note from ' ~ ledger ~ " where load_id = '" ~ load.load_id ~ "' and operation = 'R' and (" ~ condition ~ ') limit 5'
    ) -%}
        {%- set note = fromjson(example.note) -%}
        {%- do lines.append(note.reasons | join('; ') ~ '\n      in ' ~ tojson(note.row)[:300]) -%}
    {%- endfor -%}
    {{ return(lines) }}
{%- endmacro -%}
