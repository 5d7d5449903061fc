{#- The key columns once more, for the key that a row had before the event: old__<name>. -#}
{%- macro _old_keys(entity) -%}
    {%- set columns = [] -%}
    {%- for column in entity.key_columns -%}
        {%- do columns.append({
            'name': 'old__' ~ column.name, 'sql': spark_cdc._quote('old__' ~ column.name), 'data_type': column.data_type,
            'format': column.format, 'encoding': column.encoding, 'from': column.from, 'of': column,
        }) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}
