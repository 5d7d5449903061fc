{#- The ledger as the last definition has it, whatever definition a row was written under: the relation itself, as long as no column has
    moved and no key has changed, else a query between brackets. Other than in <entity>_committed, all loads and operations are there. -#}
{%- macro _across_changes(entity, ledger, layout) -%}
{%- if not layout -%}{{ return(ledger) }}{%- endif -%}
(
    select
        {%- for column in spark_cdc._ledger_columns(entity) %}
        {{ spark_cdc._shown_sql(entity, column, layout) }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ ledger }}
)
{%- endmacro -%}
