{#- What is wrong with a row as a whole. Of JSON landing_problem is that and, behind a line break, the text of the row; of CSV it
    is the text of the row. -#}
{%- macro _landing_reason(entity) -%}
    {%- if entity.source.format == 'csv' -%}
        {{ return("concat('the fields of the row do not match the header: ', left(landing_problem, 200))") }}
    {%- elif entity.source.format == 'json' -%}
        {{ return('substring_index(landing_problem, char(10), 1)') }}
    {%- endif -%}
    {{ return('landing_problem') }}
{%- endmacro -%}
