{#- The ledger as the last definition has it, whatever definition a row was written under: the relation itself, as long as no column has
    moved and no key has changed, else a query between brackets. Other than in <entity>_committed, all loads and operations are there. -#}
{%- macro _across_changes(entity, ledger, layout) -%}
    {%- if not layout -%}{{ return(ledger) }}{%- endif -%}
    {%- set columns = [] -%}
    {%- for column in spark_cdc._ledger_columns(entity) -%}{%- do columns.append(spark_cdc._shown_sql(entity, column, layout)) -%}{%- endfor -%}
    {{ return('(\n    select\n        ' ~ columns | join(',\n        ') ~ '\n    from ' ~ ledger ~ '\n)') }}
{%- endmacro -%}
