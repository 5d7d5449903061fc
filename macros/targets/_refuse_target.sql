{#- Stops a model that publishes, before anything is written. Argument: problem (a sentence without its full stop). -#}
{%- macro _refuse_target(target, problem) -%}
    {%- do exceptions.raise_compiler_error('spark_cdc.publish: ' ~ target.entity.name ~ ' as ' ~ target.relation ~ ': ' ~ problem ~ '. Nothing was written.') -%}
{%- endmacro -%}
