{#- Texts as a list of SQL literals: 'a', 'b'. -#}
{%- macro _literals(texts) -%}
    {%- set literals = [] -%}
    {%- for text in texts -%}{%- do literals.append(spark_cdc._literal(text)) -%}{%- endfor -%}
    {{ return(literals | join(', ')) }}
{%- endmacro -%}
