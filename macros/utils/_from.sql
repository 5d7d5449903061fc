{#- A relation, or a query between brackets, which needs a name. -#}
{%- macro _from(relation) -%}
    {%- set text = relation | string -%}
    {{ return(text ~ (' as loaded' if text.startswith('(') else '')) }}
{%- endmacro -%}
