{#- What the compiled SQL of <entity>_events and <entity>_ledger begins with: the load as JSON. A materialization gets nothing else from its
    model, so this comment is the contract between the two: see macros/ledger.sql. -#}
{%- macro _load_comment(load) -%}/* spark_cdc load: {{ spark_cdc._comment_json(load) }} */{%- endmacro -%}


{#- The load in such SQL. -#}
{%- macro _commented_load(sql) -%}
    {{ return(fromjson(modules.re.search('/[*] spark_cdc load: ([{].*[}]) [*]/', sql).group(1))) }}
{%- endmacro -%}
