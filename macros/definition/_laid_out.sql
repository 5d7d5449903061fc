{#- The ledger with its columns under their declared names, for loads that were written under this layout: the relation itself, as long as
    they lie there anyway, else a query between brackets. -#}
{%- macro _laid_out(entity, ledger, layout) -%}
    {%- if not layout.get('columns') -%}{{ return(ledger) }}{%- endif -%}
    {%- set columns = [] -%}
    {%- for column in spark_cdc._ledger_columns(entity, layout) if column.name != 'note' -%}
        {%- do columns.append(spark_cdc._aliased(column.at_sql, column.sql)) -%}
    {%- endfor -%}
    {{ return('(\n    select\n        ' ~ columns | join(',\n        ') ~ '\n    from ' ~ ledger ~ '\n)') }}
{%- endmacro -%}


{#- Events of loads that were written under a layout, under their declared names, as a query between brackets. -#}
{%- macro _events_laid_out(entity, events, layout, condition) -%}
    {%- if not layout.get('columns') -%}{{ return('(select * from ' ~ events ~ ' where ' ~ condition ~ ')') }}{%- endif -%}
    {%- set columns = [] -%}
    {%- for column in spark_cdc._event_columns(entity, layout) -%}
        {%- do columns.append(spark_cdc._aliased(column.at_sql, column.sql)) -%}
    {%- endfor -%}
    {{ return('(\n    select\n        ' ~ columns | join(',\n        ') ~ '\n    from ' ~ events ~ '\n    where ' ~ condition ~ '\n)') }}
{%- endmacro -%}
