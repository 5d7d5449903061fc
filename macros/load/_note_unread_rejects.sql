{#- Says how many rejected rows of some loads have no readable key, of an entity of which keys were forgotten: nobody can tell whether they are rows of these keys, so that
    loads, replays among them, keep them. Arguments: capture, loads (names). -#}
{%- macro _note_unread_rejects(capture, loads) -%}
    {%- set name = capture.entity.name -%}
    {%- if not loads or spark_cdc._forgotten(capture.entity) is none -%}{{ return('') }}{%- endif -%}
    {%- set sql -%}
select count(*) as unread
from {{ capture.ledger }}
where {{ spark_cdc._in_loads(loads) }} and operation = 'R' and key_hash is null
    {%- endset -%}
    {%- set unread = spark_cdc._query(sql)[0].unread | int -%}
    {%- if unread -%}
        {%- do log(name ~ ': ' ~ spark_cdc._counted(unread, 'rejected row') ~ ' without a readable key, in which values of forgotten keys may stand ('
            ~ capture.ledger ~ ', operation R). Forget these keys again: spark-cdc forget ' ~ name ~ ' --keys TABLE', info=true) -%}
    {%- endif -%}
{%- endmacro -%}
