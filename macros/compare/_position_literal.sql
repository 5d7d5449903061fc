{#- A position as a SQL literal. -#}
{%- macro _position_literal(position) -%}
    {{ return('array(' ~ position | join('L, ') ~ 'L)') }}
{%- endmacro -%}
