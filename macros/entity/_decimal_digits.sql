{#- How many digits a decimal has before the point, and how many behind it. -#}
{%- macro _decimal_digits(type) -%}
    {%- set found = modules.re.fullmatch('decimal *(?:[(] *([0-9]+) *(?:, *([0-9]+) *)?[)])?', type) -%}
    {%- set precision = (found.group(1) or 10) | int -%}
    {%- set scale = (found.group(2) or 0) | int -%}
    {{ return([precision - scale, scale]) }}
{%- endmacro -%}
