{#- A raw value as a short text between quotes. -#}
{%- macro _shown(raw) -%}
    {{ return("concat('\\'', left(cast(" ~ raw ~ " as string), 60), '\\'')") }}
{%- endmacro -%}
