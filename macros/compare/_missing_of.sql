{#- The columns that some event of a load lacks; all but the key's where it is not known which. -#}
{%- macro _missing_of(entity, summary) -%}
    {%- set columns = entity.stored | rejectattr('role', 'equalto', 'key') if summary.partial else [] -%}
    {{ return((columns if summary.get('missing') is none else columns | selectattr('name', 'in', summary.missing)) | list) }}
{%- endmacro -%}
