{#- Rejected rows of some kinds, what is wrong with them and how they came in, for a message. Returns a list of texts.
    `stack` keeps the kind from being asked further down: in a plan the ledger is a view, and Spark, putting the expressions behind `note` in its place again and
    again, does not come to an end with entities of some columns. Of an entity with sensitive columns no value is shown: it may stand in the wrong place. A row may be longer than Thrift carries,
    so it is cut on the server. -#}
{%- macro _reject_lines(entity, ledger, load, kinds) -%}
    {%- set sql -%}
select
    get_json_object(rejected, '$.columns') as columns,
    left(array_join(from_json(get_json_object(rejected, '$.reasons'), 'array<string>'), '; '), 2000) as reasons,
    left(get_json_object(rejected, '$.row'), 4000) as shown
from {{ ledger }}
lateral view stack(1, note) as rejected
where load_id = '{{ load.load_id }}' and operation = 'R' and get_json_object(rejected, '$.kind') in ({{ spark_cdc._literals(kinds) }})
limit 5
    {%- endset -%}
    {%- set lines = [] -%}
    {%- for example in spark_cdc._query(sql) -%}
        {%- set row = fromjson(example.shown or '', none) -%}
        {%- do lines.append('not accepted: ' ~ fromjson(example.columns or '[]') | join(', ') ~ '; ' ~ spark_cdc._values_apart_text() if entity.sensitive
            else (example.reasons or '') ~ '\n      in ' ~ (spark_cdc._shown_json(row) if row else example.shown or 'a row that is too long to be shown')[:300]) -%}
    {%- endfor -%}
    {{ return(lines) }}
{%- endmacro -%}
