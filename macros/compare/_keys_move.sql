{#- Whether rows of a load may leave their keys, so that what is under a key is a queue. -#}
{%- macro _keys_move(entity, summary) -%}
    {{ return((summary.moves or summary.splits or summary.alternates) and entity.key_columns | length > 0) }}
{%- endmacro -%}
