{#- Rejected rows of some kinds, what is wrong with them and how they came in, for a message. Returns a list of texts.
    `stack` keeps the kind from being asked further down: in a plan the ledger is a view, and Spark, putting the expressions behind `note` in its place again and
    again, does not come to an end with entities of some columns. Of an entity with sensitive columns no value is shown: it may stand in the wrong place. -#}
{%- macro _reject_lines(entity, ledger, load, kinds) -%}
    {%- set sql -%}
select rejected as note
from {{ ledger }}
lateral view stack(1, note) as rejected
where load_id = '{{ load.load_id }}' and operation = 'R' and get_json_object(rejected, '$.kind') in ({{ spark_cdc._literals(kinds) }})
limit 5
    {%- endset -%}
    {%- set lines = [] -%}
    {%- for example in spark_cdc._query(sql) -%}
        {%- set note = fromjson(example.note) -%}
        {%- do lines.append('not accepted: ' ~ (note.get('columns') or []) | join(', ') ~ '; ' ~ spark_cdc._values_apart_text() if entity.sensitive
            else note.reasons | join('; ') ~ '\n      in ' ~ spark_cdc._shown_json(note.row)[:300]) -%}
    {%- endfor -%}
    {{ return(lines) }}
{%- endmacro -%}
