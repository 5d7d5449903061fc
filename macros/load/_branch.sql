{#- The text of the view that a branch (docs/branches.md) has in a table's place: what the branch has written, which lies in <name>_own, and the rows of
    production's table, where they are. Both sides name partitions as columns, so that Spark prunes those of either.
    Arguments: table (relation of the view), origin (what the text's comment says: of, schema and name of production's table; columns, that it had when the
    branch was made, in lower case; and, of the ledger, definition, of the committed loads then; of cdc_loads until, by entity the microsecond up to which its
    rows are shown), columns (of <name>_own, in its order: name, dtype). -#}
{%- macro _branch_table_text(table, origin, columns) -%}
{%- set own = spark_cdc._relation_in(table.schema, table.identifier ~ '_own') -%}
select
    /* spark_cdc branch: {{ spark_cdc._comment_json(origin) }} */
    {% for column in columns -%}
    {{ spark_cdc._quote(column.name) }}{{ ',' if not loop.last }}
    {% endfor -%}
from {{ own }}

union all

select
    {%- for column in columns %}
    {{ spark_cdc._aliased(
        spark_cdc._quote(column.name) if column.name | lower in origin.columns else 'cast(null as ' ~ column.dtype ~ ')',
        spark_cdc._quote(column.name)) }}{{ ',' if not loop.last }}
    {%- endfor %}
from {{ spark_cdc._relation_in(origin.of.schema, origin.of.name) }}
    {%- if origin.until is defined %}
where
        {%- for until in origin.until.values() | unique | sort %}
        {%- set names = origin.until.items() | selectattr(1, 'equalto', until) | map(attribute=0) | sort %}
    {{ 'or ' if not loop.first }}(entity in ({{ spark_cdc._literals(names) }}) and coalesce(committed_at, started_at) <= timestamp_micros({{ until }}))
        {%- endfor %}
    {%- endif %}
{%- endmacro -%}


{#- What the comment in such a view's text says, or none where it is no such view. -#}
{%- macro _branch_origin(text) -%}
    {%- set found = modules.re.search('/[*] spark_cdc branch: ([{].*[}]) [*]/', text or '') -%}
    {{ return(fromjson(found.group(1)) if found else none) }}
{%- endmacro -%}


{#- Lets such a view show the columns that the branch's own table has by now. -#}
{%- macro _show_branch_columns(table) -%}
    {%- set origin = spark_cdc._branch_origin(spark_cdc._view_text(table)) -%}
    {%- set columns = adapter.get_columns_in_relation(spark_cdc._own(table)) -%}
    {%- do spark_cdc._send(spark_cdc._replace_view_sql(table, spark_cdc._branch_table_text(table, origin, columns), true)) -%}
{%- endmacro -%}
