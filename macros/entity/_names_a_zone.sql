{#- Whether a pattern of times has a letter that stands for a zone. -#}
{%- macro _names_a_zone(format) -%}
    {{ return(modules.re.search('[VzOXxZ]', spark_cdc._format_letters(format)) is not none) }}
{%- endmacro -%}
