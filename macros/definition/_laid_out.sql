{#- The ledger with its columns under their declared names, for loads that were written under this layout: the relation itself, as long as
    they lie there anyway, else a query between brackets. -#}
{%- macro _laid_out(entity, ledger, layout) -%}
    {%- if not layout.get('columns') -%}{{ return(ledger) }}{%- endif -%}
    {{ return(spark_cdc._laid_out_columns(spark_cdc._ledger_columns(entity, layout) | rejectattr('name', 'equalto', 'note'), ledger)) }}
{%- endmacro -%}


{#- Events of loads that were written under a layout, under their declared names, as a query between brackets. -#}
{%- macro _laid_out_events(entity, events, layout, condition) -%}
    {%- if not layout.get('columns') -%}{{ return('(select * from ' ~ events ~ ' where ' ~ condition ~ ')') }}{%- endif -%}
    {{ return(spark_cdc._laid_out_columns(spark_cdc._event_columns(entity, layout), events, condition)) }}
{%- endmacro -%}


{%- macro _laid_out_columns(columns, table, condition=none) -%}
(
    select
        {%- for column in columns %}
        {{ spark_cdc._aliased(column.at_sql, column.sql) }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ table }}
    {%- if condition %}
    where {{ condition }}
    {%- endif %}
)
{%- endmacro -%}
