{#- Keys that mean nothing: most often a misspelt setting, which would be ignored in silence. -#}
{%- macro _unknown_key_problems(label, given, accepted) -%}
    {%- set problems = [] -%}
    {%- for key in given if key not in accepted -%}
        {%- do problems.append(label ~ " has the unknown key '" ~ key ~ "'; accepted are " ~ accepted | join(', ') ~ ': correct or remove it') -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
