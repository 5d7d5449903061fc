{#- Declared columns that are not stored: where messages are landed as rows, they may lie beside the message. -#}
{%- macro _landed_columns(entity) -%}
    {{ return(entity.columns | selectattr('role', 'equalto', 'control') | list) }}
{%- endmacro -%}
