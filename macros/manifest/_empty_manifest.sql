{#- The manifest of an entity of which nothing is committed. -#}
{%- macro _empty_manifest() -%}
    {{ return({
        'loads': [], 'rows': 0, 'log_rows': 0, 'previous': {'rows': 0, 'log_rows': 0}, 'definition': none, 'existed': false, 'sequence': 0,
        'recommitted': [], 'rewritten': {'version': 0, 'at': none},
    }) }}
{%- endmacro -%}
