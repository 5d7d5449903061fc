{#- The column that a setting names, whatever its case: one of the declared ones or one that the format adds. Returns
    its dictionary, or none. -#}
{%- macro _named_column(entity, name) -%}
    {%- for column in entity.columns if column.name | lower == name | string | lower -%}
        {{ return(column) }}
    {%- endfor -%}
    {{ return(none) }}
{%- endmacro -%}


{#- What is wrong with settings that name a column each. Arguments: entity, settings (names of settings), required
    (those of them that must be there). Returns a list of texts. -#}
{%- macro _adapter_column_problems(entity, settings, required=[]) -%}
    {%- set problems = [] -%}
    {%- for setting in settings -%}
        {%- set name = entity.events.get(setting) -%}
        {%- if name is none and setting in required -%}
            {%- do problems.append('events.' ~ setting ~ ' is missing: name the column that holds it') -%}
        {%- elif name is not none and spark_cdc._named_column(entity, name) is none -%}
            {%- do problems.append('events.' ~ setting ~ " names '" ~ name ~ "', which is no column; accepted are "
                ~ entity.columns | map(attribute='name') | join(', ') ~ ': correct it, or declare the column with the role control') -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- Stops if anything is wrong with them: validate() has said so before, but not where there is none (dbt show). -#}
{%- macro _refuse_events(entity) -%}
    {%- set problems = spark_cdc._adapter_problems(entity) -%}
    {%- if problems -%}
        {% do exceptions.raise_compiler_error(
            entity.name ~ ': the settings of events.format ' ~ entity.events.format ~ ' are not accepted.\n  ' ~ problems | join('\n  ')
            ~ '\nCorrect the YAML of stg_' ~ entity.name ~ '. Nothing was written.'
        ) %}
    {%- endif -%}
{%- endmacro -%}
