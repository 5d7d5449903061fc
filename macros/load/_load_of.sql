{#- The plan that stands at the head of a ledger model's compiled SQL. -#}
{%- macro _load_of(sql) -%}
    {{ return(fromjson(modules.re.search('/[*] spark_cdc load: ([{].*[}]) [*]/', sql).group(1))) }}
{%- endmacro -%}
