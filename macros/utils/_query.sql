{#- Run a query and hand back its rows as a list of dictionaries keyed by column name. -#}
{%- macro _query(sql) -%}
    {%- set rows = [] -%}
    {%- set table = run_query(sql) -%}
    {%- for row in table.rows -%}
        {%- do rows.append(dict(row.items())) -%}
    {%- endfor -%}
    {{ return(rows) }}
{%- endmacro -%}
