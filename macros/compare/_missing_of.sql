{#- The columns that some event of a load lacks. -#}
{%- macro _missing_of(entity, summary) -%}
    {%- set columns = [] -%}
    {%- for column in entity.stored if column.role != 'key' and (summary.get('missing') is none or column.name in summary.missing) -%}
        {%- do columns.append(column) -%}
    {%- endfor -%}
    {{ return(columns) }}
{%- endmacro -%}
