{#- The columns of a node as a list of dictionaries, as they were written: dbt's graph has them by name, a YAML entry as a list. -#}
{%- macro _columns_of(node) -%}
    {%- set columns = node.get('columns') or [] -%}
    {{ return(columns.values() | list if columns is mapping else columns) }}
{%- endmacro -%}
