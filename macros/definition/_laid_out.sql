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


{#- Columns, each with the name of the physical column that it is written to (at, and at_sql for SQL). The former keys of <entity>_events
    lie beside the keys: former_keys says that old__<name> is one. -#}
{%- macro _placed_columns(columns, layout, former_keys=false) -%}
    {%- set placed = [] -%}
    {%- for column in columns -%}
        {%- set name = column.name[5:] if former_keys and column.name.startswith('old__') else column.name -%}
        {%- set at = column.name[:column.name | length - name | length] ~ spark_cdc._place(layout, {'name': name}).at -%}
        {%- do placed.append(dict(column, at=at, at_sql=spark_cdc._quote(at))) -%}
    {%- endfor -%}
    {{ return(placed) }}
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


{#- A relation, or a query between brackets, which needs a name. -#}
{%- macro _from(relation) -%}
    {%- set text = relation | string -%}
    {{ return(text ~ (' as loaded' if text.startswith('(') else '')) }}
{%- endmacro -%}


{#- The ledger as the last definition has it, whatever definition a row was written under: the relation itself, as long as no column has
    moved and no key has changed, else a query between brackets. Other than in <entity>_committed, all loads and operations are there. -#}
{%- macro _across_changes(entity, ledger, layout) -%}
    {%- if not layout -%}{{ return(ledger) }}{%- endif -%}
    {%- set columns = [] -%}
    {%- for column in spark_cdc._ledger_columns(entity) -%}{%- do columns.append(spark_cdc._shown_sql(entity, column, layout)) -%}{%- endfor -%}
    {{ return('(\n    select\n        ' ~ columns | join(',\n        ') ~ '\n    from ' ~ ledger ~ '\n)') }}
{%- endmacro -%}
