{#- Whether a change is one of another table than the entity's. events.table is the table's name, alone or with all or some of what qualifies it; several
    names, and names with *, are those of tables whose rows belong together. Without the setting all changes count, and those that name no
    table. Arguments: entity, table (as of _event_origin()). Returns a condition that is never null. -#}
{%- macro _is_other_table(entity, table) -%}
{%- set name = spark_cdc._event_origin_table(table) -%}
{%- set conditions = [] -%}
{%- for wanted in spark_cdc._names(entity.events.get('table')) -%}
    {%- if '*' in wanted -%}
        {%- set pattern = wanted.replace('!', '!!').replace('%', '!%').replace('_', '!_').replace('*', '%') -%}
        {%- do conditions.append("concat('.', " ~ name ~ ') like ' ~ spark_cdc._literal('%.' ~ pattern) ~ " escape '!'") -%}
    {%- else -%}
        {%- do conditions.append("endswith(concat('.', " ~ name ~ '), ' ~ spark_cdc._literal('.' ~ wanted) ~ ')') -%}
    {%- endif -%}
{%- endfor -%}
{{ 'not coalesce(' ~ conditions | join(' or ') ~ ', true)' if conditions else 'false' }}
{%- endmacro -%}
