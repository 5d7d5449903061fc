{#- Whether the last row of a key stands for one that is there, also after a truncate. -#}
{%- macro _is_alive(qualifier, truncated) -%}
({{ qualifier }}.operation not in ('D', 'T') {#- #}
{%- if truncated %} and {{ qualifier }}.event_position > {{ spark_cdc._position_literal(truncated) }}{% endif %})
{%- endmacro -%}
