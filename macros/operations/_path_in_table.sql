{#- What of a file's path tells it from others of its table. -#}
{%- macro _path_in_table(path) -%}regexp_extract({{ path }}, '(business_date=[^/]+/.*)$', 1){%- endmacro -%}
