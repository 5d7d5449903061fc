{#- A timestamp as text in UTC. -#}
{%- macro _instant_text(sql) -%}
concat(cast(timestamp_ntz'1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, {# -#}
unix_micros({{ sql }}) / cast(1000000 as decimal(7, 0))) as string), 'Z')
{%- endmacro -%}
