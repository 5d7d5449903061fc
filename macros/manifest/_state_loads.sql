{#- The loads that make up a state: the newest checkpoint of a list of loads (base, or none), and those after it (log). -#}
{%- macro _state_loads(loads) -%}
    {%- set log = [] -%}
    {%- for load_id in loads | reverse -%}
        {%- if spark_cdc._load_kind(load_id).is_checkpoint -%}
            {{ return({'base': load_id, 'log': log | reverse | list}) }}
        {%- endif -%}
        {%- do log.append(load_id) -%}
    {%- endfor -%}
    {{ return({'base': none, 'log': log | reverse | list}) }}
{%- endmacro -%}
