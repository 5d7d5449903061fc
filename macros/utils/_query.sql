{#- Run a query and hand back its rows as a list of dictionaries keyed by column name. -#}
{%- macro _query(sql) -%}
    {%- set rows = [] -%}
    {%- for row in run_query(sql).rows -%}{%- do rows.append(dict(row.items())) -%}{%- endfor -%}
    {{ return(rows) }}
{%- endmacro -%}
