{#- The loads with which two lists of loads begin alike. -#}
{%- macro _common_loads(some, others) -%}
    {%- set same = namespace(count=0) -%}
    {%- for load_id in some -%}
        {%- if same.count == loop.index0 and others[loop.index0:][:1] == [load_id] -%}{%- set same.count = loop.index -%}{%- endif -%}
    {%- endfor -%}
    {{ return(some[:same.count]) }}
{%- endmacro -%}
