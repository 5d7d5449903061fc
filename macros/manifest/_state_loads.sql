{#- The loads that make up a state: the newest checkpoint of a list of loads (base, or none), and those after it (log). -#}
{%- macro _state_loads(loads) -%}
    {%- set checkpoints = spark_cdc._loads_with(loads, 'is_checkpoint') -%}
    {%- if not checkpoints -%}
        {{ return({'base': none, 'log': loads}) }}
    {%- endif -%}
    {{ return({'base': checkpoints[-1], 'log': loads[loads.index(checkpoints[-1]) + 1:]}) }}
{%- endmacro -%}
