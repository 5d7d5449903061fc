{#- Those of some loads whose names say something. Arguments: loads, attribute (of _load_kind(), or time: the business time), a Jinja test and
    the value that it compares with. -#}
{%- macro _loads_with(loads, attribute, test='equalto', value=true) -%}
    {%- set named = [] -%}
    {%- for load_id in loads -%}
        {%- set told = {'time': spark_cdc._load_time(load_id)} if attribute == 'time' else spark_cdc._load_kind(load_id) -%}
        {%- do named.append(dict(told, load_id=load_id)) -%}
    {%- endfor -%}
    {{ return(named | selectattr(attribute, test, value) | map(attribute='load_id') | list) }}
{%- endmacro -%}
