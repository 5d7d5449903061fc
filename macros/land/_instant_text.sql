{#- A timestamp as text in UTC. -#}
{%- macro _instant_text(sql) -%}
concat({{ spark_cdc._wall_clock_text(sql) }}, 'Z')
{%- endmacro -%}
