{#- The macro events_<format><suffix>, of the user's own project or of this one; none if there is none. -#}
{%- macro _adapter(format, suffix='') -%}
    {%- set name = 'events_' ~ format ~ suffix -%}
    {{ return(context.get(name) or context['spark_cdc'].get('_' ~ name)) }}
{%- endmacro -%}
