{#- The business time in a load's name, as an expression of the type of eff_start_date. -#}
{%- macro _load_time_sql(entity, name) -%}
    {%- if entity.eff_type == 'date' -%}
        {{ return('to_date(substr(' ~ name ~ ", 1, 8), 'yyyyMMdd')") }}
    {%- endif -%}
    {%- set stamp = "replace(rpad(split_part(" ~ name ~ ", '-', 1), 15, 'T000000'), 'T', '')" -%}
    {{ return('to_timestamp_ntz(' ~ stamp ~ ", 'yyyyMMddHHmmss')") }}
{%- endmacro -%}
