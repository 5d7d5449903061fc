{#- Whether a map that was read from a JSON object has a name more than once: a condition that is never null. -#}
{%- macro _has_repeated_names(map) -%}
coalesce(size(array_distinct(map_keys({{ map }}))) < size({{ map }}), false)
{%- endmacro -%}
