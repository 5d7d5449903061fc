{#- Columns of text, as a view declares them. -#}
{%- macro _string_columns(names) -%}
{%- for name in names -%}
{{ spark_cdc._quote(name) }} string{{ ',\n' if not loop.last }}
{%- endfor -%}
{%- endmacro -%}
