{#- The loads of a list from a business time on. -#}
{%- macro _loads_from(loads, first) -%}
    {%- set start = spark_cdc._business_time(first) -%}
    {%- set found = [] -%}
    {%- for load_id in loads if spark_cdc._load_time(load_id) >= start -%}{%- do found.append(load_id) -%}{%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
