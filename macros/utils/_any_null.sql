{#- Whether any of some columns is null. -#}
{%- macro _any_null(columns) -%}
    {{ return(columns | map(attribute='sql') | join(' is null or ') ~ ' is null') }}
{%- endmacro -%}
