{#- The loads that make up a state: the newest checkpoint of a list of loads, and those after it. -#}
{%- macro _state_loads(loads) -%}
    {%- set log = [] -%}
    {%- for load_id in loads | reverse -%}
        {%- if spark_cdc._is_checkpoint(load_id) -%}
            {{ return({'base': load_id, 'log': log | reverse | list}) }}
        {%- endif -%}
        {%- do log.append(load_id) -%}
    {%- endfor -%}
    {{ return({'base': none, 'log': log | reverse | list}) }}
{%- endmacro -%}
