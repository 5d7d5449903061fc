{#- Text to an instant. Text that says no zone of its own is read in the zone given, never in the session's. -#}
{%- macro _cast_instant(raw, format, timezone) -%}
{%- set zone = '+00:00' if timezone == 'UTC' else timezone -%}
{%- if format and spark_cdc._names_a_zone(format) -%}
try_to_timestamp({{ raw }}, {{ spark_cdc._literal(format) }})
{%- elif format -%}
{%- set pattern = format ~ (' xxx' if zone[0] in '+-' else ' VV') -%}
try_to_timestamp(concat({{ raw }}, {{ spark_cdc._literal(' ' ~ zone) }}), {{ spark_cdc._literal(pattern) }})
{%- else -%}
{%- set zone = ' ' ~ zone if '/' in zone else zone -%}
try_cast(case when contains({{ raw }}, ':') and {{ spark_cdc._has_zone(raw) }} then {{ raw }} {# -#}
when contains({{ raw }}, ':') then concat(trim({{ raw }}), {{ spark_cdc._literal(zone) }}) {# -#}
else concat(nullif(trim({{ raw }}), ''), {{ spark_cdc._literal(' 00:00:00' ~ zone) }}) end as timestamp)
{%- endif -%}
{%- endmacro -%}
