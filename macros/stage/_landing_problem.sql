{#- What is wrong with a row as a whole. Of JSON landing_problem is that and, behind a line break, the text of the row; of CSV it
    is the text of the row. -#}
{%- macro _landing_problem_reason(entity) -%}
{%- if entity.source.format == 'csv' -%}
concat('the fields of the row do not match the header: ', left(landing_problem, 200))
{%- elif entity.source.format == 'json' -%}
substring_index(landing_problem, char(10), 1)
{%- else -%}
landing_problem
{%- endif -%}
{%- endmacro -%}


{#- The text of a row that could not be taken apart; null for others. -#}
{%- macro _landing_problem_text(entity) -%}
{%- if entity.source.format == 'json' -%}
if(contains(landing_problem, char(10)), substring(landing_problem, instr(landing_problem, char(10)) + 1), null)
{%- else -%}
landing_problem
{%- endif -%}
{%- endmacro -%}
