{#- The business time in a load's name, as a datetime. -#}
{%- macro _load_time(load_id) -%}
    {%- set stamp = load_id.split('-')[0] -%}
    {{ return(modules.datetime.datetime.strptime(stamp, '%Y%m%dT%H%M%S' if 'T' in stamp else '%Y%m%d')) }}
{%- endmacro -%}


{#- The same as text, as messages and commands have it. -#}
{%- macro _load_time_text(entity, load_id) -%}{{ return(spark_cdc._time_text(entity, spark_cdc._load_time(load_id))) }}{%- endmacro -%}


{#- The business times of loads, as texts. -#}
{%- macro _load_times(entity, loads) -%}
    {%- set times = [] -%}
    {%- for load_id in loads -%}{%- do times.append(spark_cdc._load_time_text(entity, load_id)) -%}{%- endfor -%}
    {{ return(times) }}
{%- endmacro -%}
