{#- What is wrong with settings that name a column each. Arguments: entity, settings (names of settings), required
    (those of them that must be there). Returns a list of texts. -#}
{%- macro _adapter_column_problems(entity, settings, required=[]) -%}
    {%- set problems = [] -%}
    {%- for setting in settings -%}
        {%- set name = entity.events.get(setting) -%}
        {%- if name is none and setting in required -%}
            {%- do problems.append('events.' ~ setting ~ ' is missing: name the column that holds it') -%}
        {%- elif name is not none and spark_cdc._named_column(entity, name) is none -%}
            {%- set problem -%}
events.{{ setting }} names '{{ name }}', which is no column; accepted are {{ entity.columns | map(attribute='name') | join(', ') }}: {# -#}
correct it, or declare the column with the role control
            {%- endset -%}
            {%- do problems.append(problem) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
