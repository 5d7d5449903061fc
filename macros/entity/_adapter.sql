{#- The macro events_<format><suffix>, of the user's own project or of this one; none if there is none. -#}
{%- macro _adapter(format, suffix='') -%}
    {%- set name = 'events_' ~ format ~ suffix -%}
    {{ return(context.get(name) or context['spark_cdc'].get('_' ~ name)) }}
{%- endmacro -%}


{#- What is wrong with an entity's settings of its format, as the macro events_<format>_problems says, if there is one. -#}
{%- macro _adapter_problems(entity) -%}
    {%- set problems_of = spark_cdc._adapter(entity.events.format, '_problems') -%}
    {{ return(problems_of(entity) if problems_of else []) }}
{%- endmacro -%}
