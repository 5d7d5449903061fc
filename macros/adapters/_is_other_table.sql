{#- Whether a change is one of another table than the entity's. `events.table` is the table's name, alone or with what
    stands before it; without the setting all changes count. Arguments: entity, table (expression), qualifier
    (expression of the schema or database; none where the table's own text holds it). Returns a condition that is never
    null. -#}
{%- macro _is_other_table(entity, table, qualifier=none) -%}
{%- set wanted = entity.events.get('table') -%}
{%- if not wanted -%}
false
{%- elif '.' in wanted and qualifier is not none -%}
not coalesce(concat_ws('.', {{ qualifier }}, {{ table }}) = {{ spark_cdc._literal(wanted) }}, true)
{%- elif '.' not in wanted and qualifier is none -%}
not coalesce(substring_index({{ table }}, '.', -1) = {{ spark_cdc._literal(wanted) }}, true)
{%- else -%}
not coalesce({{ table }} = {{ spark_cdc._literal(wanted) }}, true)
{%- endif -%}
{%- endmacro -%}
