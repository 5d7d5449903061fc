{#- The column that a setting names, whatever its case: one of the declared ones or one that the format adds. Returns
    its dictionary, or none. -#}
{%- macro _named_column(entity, name) -%}
    {%- for column in entity.columns if column.name | lower == name | string | lower -%}
        {{ return(column) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}
