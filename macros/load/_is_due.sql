{#- Whether a business date is given of which no load counts. Arguments: capture, manifest (of the last commit, where it is known). -#}
{%- macro _is_due(capture, manifest=none) -%}
    {%- set time = spark_cdc._business_time_of(capture.entity.name) -%}
    {%- if time is none -%}{{ return(false) }}{%- endif -%}
    {%- set loads = (manifest or spark_cdc._head(capture)).loads -%}
    {{ return(not spark_cdc._loads_with(loads, 'time', 'equalto', time)) }}
{%- endmacro -%}
