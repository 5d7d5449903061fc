{#- What the events of the load are like (see _event_summary()); where nothing is loaded, as if everything occurred.
    Arguments: run (with prior: where the rows before are), events (relation of this load's events). -#}
{%- macro _summarized(run, events) -%}
    {%- set entity, load = run.entity, run.load -%}
    {%- if spark_cdc._is_plan() -%}{{ return(spark_cdc._checked_summary(run, events)) }}{%- endif -%}
    {%- if spark_cdc._business_time_of(entity.name) is none or not spark_cdc._is_load_command() -%}
        {{ return(spark_cdc._any_events()) }}
    {%- endif -%}
    {%- if (model['unique_id'].rsplit('.', 1)[0] ~ '.' ~ entity.name ~ '_events') not in selected_resources
            and not spark_cdc._load_again_is_written(run, 'events') -%}
        {%- set message -%}
{{ entity.name }}: the events of {{ load.business_time }} are not part of this run, since {{ entity.name }}_events is not selected. Nothing {# -#}
was written. Load the date: {{ spark_cdc._load_command(entity, load.business_time) }}.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {{ return(spark_cdc._checked_summary(run, events)) }}
{%- endmacro -%}
