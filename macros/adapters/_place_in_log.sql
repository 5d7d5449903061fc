{#- A number that says where something lies in a log; null where it is below zero: it overflowed somewhere, and would sort first. -#}
{%- macro _place_in_log(number) -%}nullif(greatest({{ number }}, -1L), -1L){%- endmacro -%}
