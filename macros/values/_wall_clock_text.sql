{#- The wall clock of a timestamp in UTC, as text without a zone. -#}
{%- macro _wall_clock_text(sql) -%}
cast(timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, {# -#}
unix_micros({{ sql }}) / cast(1000000 as decimal(7, 0))) as string)
{%- endmacro -%}
