{#- The text of a row that could not be taken apart; null for others. -#}
{%- macro _landing_text(entity) -%}
    {%- if entity.source.format == 'json' -%}
        {{ return("if(contains(landing_problem, char(10)), substring(landing_problem, instr(landing_problem, char(10)) + 1), null)") }}
    {%- endif -%}
    {{ return('landing_problem') }}
{%- endmacro -%}
