{#- The key columns once more, for the key that a row had before the event: old__<name>. -#}
{%- macro _old_keys(entity) -%}
    {%- set columns = [] -%}
    {%- for column in entity.key_columns -%}
        {%- set name = 'old__' ~ column.name -%}
        {%- do columns.append(dict(column, name=name, sql=spark_cdc._quote(name), of=column)) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}
