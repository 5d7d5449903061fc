{#- Whether a load has so few events that what costs is its statements, and not the rows. -#}
{%- macro _is_short_stream(event_count) -%}{{ return(event_count < 10 ** 5) }}{%- endmacro -%}
