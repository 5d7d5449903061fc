{#- Refuses to forget keys of an entity, if there are problems (texts). -#}
{%- macro _refuse_forget(entity, problems) -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error('spark_cdc.forget: ' ~ entity.name ~ ': ' ~ problems | join('; ') ~ '. Nothing was written.') -%}
    {%- endif -%}
{%- endmacro -%}
