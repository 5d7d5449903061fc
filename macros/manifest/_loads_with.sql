{#- Those of some loads whose names say something. Arguments: loads, attribute (of _load_kind(), or time: the business time), a Jinja test and
    the value that it compares with. -#}
{%- macro _loads_with(loads, attribute, test='equalto', value=true) -%}
    {%- set named = [] -%}
    {%- for load_id in loads -%}
        {%- do named.append(dict(spark_cdc._load_kind(load_id), load_id=load_id, time=spark_cdc._load_time(load_id))) -%}
    {%- endfor -%}
    {{ return(named | selectattr(attribute, test, value) | map(attribute='load_id') | list) }}
{%- endmacro -%}
