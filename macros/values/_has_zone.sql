{#- Whether a text of a time ends in a zone of its own: a letter or a sign behind the hour. What is no zone is no time, either. -#}
{%- macro _has_zone(raw) -%}
(endswith({{ raw }}, 'Z') or {{ raw }} rlike ':[^A-Za-z+-]*[A-Za-z+-]')
{%- endmacro -%}
