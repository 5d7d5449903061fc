{#- Whether the last row of a key stands for one that is there, also after a truncate. -#}
{%- macro _is_alive(qualifier, truncated) -%}
    {%- set truncates = qualifier ~ '.event_position > ' ~ spark_cdc._position_literal(truncated) if truncated else '' -%}
    {{ return('(' ~ qualifier ~ ".operation not in ('D', 'T')" ~ (' and ' ~ truncates if truncates else '') ~ ')') }}
{%- endmacro -%}
