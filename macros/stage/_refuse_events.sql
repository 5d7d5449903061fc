{#- Stops if the settings of an entity's format are not accepted: validate() has said so before, but not where there is none
    (dbt show). -#}
{%- macro _refuse_events(entity) -%}
    {%- set problems = spark_cdc._adapter_problems(entity) -%}
    {%- if problems -%}
        {%- set message -%}
{{ entity.name }}: the settings of events.format {{ entity.events.format }} are not accepted.
  {{ problems | join('\n  ') }}
Correct the YAML of stg_{{ entity.name }}. Nothing was written.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
{%- endmacro -%}
