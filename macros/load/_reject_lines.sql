{#- Rejected rows of some kinds, what is wrong with them and how they came in, for a message. Returns a list of texts. -#}
{%- macro _reject_lines(ledger, load, kinds) -%}
    {%- set sql -%}
select note
from {{ ledger }}
where load_id = '{{ load.load_id }}' and operation = 'R' and get_json_object(note, '$.kind') in ({{ spark_cdc._literals(kinds) }})
limit 5
    {%- endset -%}
    {%- set lines = [] -%}
    {%- for example in spark_cdc._query(sql) -%}
        {%- set note = fromjson(example.note) -%}
        {%- do lines.append(note.reasons | join('; ') ~ '\n      in ' ~ tojson(note.row)[:300]) -%}
    {%- endfor -%}
    {{ return(lines) }}
{%- endmacro -%}
