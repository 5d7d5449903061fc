{#- A row as it was before an update: the new row, overlaid by the old values of what changed. Null without old values.
    Arguments: row, old (expressions of map<string, string>). Returns an expression. -#}
{%- macro _overlaid(row, old) -%}
map_concat(map_filter({{ row }}, (name, value) -> not map_contains_key({{ old }}, name)), {{ old }})
{%- endmacro -%}
