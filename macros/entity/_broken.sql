{#- What a table of rules finds wrong. Arguments: values (dictionary), rules (a list of (whether it is broken, the message, in which
    %(name)s stands for a value)). Returns the messages of broken ones, as a list of texts. -#}
{%- macro _broken(values, rules) -%}
    {%- set problems = [] -%}
    {%- for is_broken, message in rules if is_broken -%}
        {%- do problems.append(message % values) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
