{#- A view's query with a comment in front of its columns, by which cdc_view tells what it was made of. -#}
{%- macro _stamped_view_query(sql, fingerprint) -%}
with
/* {{ fingerprint }} */
query_of_view as (
{{ sql }}
)

select * from query_of_view
{%- endmacro -%}


{#- A view's query, stamped with the definition of the columns: a view keeps its columns' types until it is altered, also if what it
    selects from has others by now. -#}
{%- macro _typed_view_query(sql, manifest) -%}
{{ sql }}
{%- if manifest.definition %}
/* columns of definition {{ manifest.definition }} */
{%- endif %}
{%- endmacro -%}


{#- The SQL of a model that shows a table of its entity as far as the loads in <entity>_committed count. Arguments: table (what the table's name ends with: events or ledger),
    query_of (macro of the query: of entity, table, committed, layout). -#}
{%- macro _view_query_of_two(table, query_of) -%}
    {%- do config(materialized='cdc_view', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -%}
    {%- set name, is_sensitive = spark_cdc._entity_name(), spark_cdc._is_sensitive_model() -%}
    {%- set relation = spark_cdc._whole(ref(name ~ '_' ~ table)) -%}
    {%- set committed = spark_cdc._whole(ref(name ~ '_committed')) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {%- if is_sensitive -%}{%- set relation = spark_cdc._capture(spark_cdc._entity(name), committed.schema)[table] -%}{%- endif -%}
    {%- set manifest = spark_cdc._manifest_of_view(committed) -%}
    {%- set sql = query_of(spark_cdc._entity(name), relation, committed, manifest.get('layout') or {}) -%}
    {{ return(spark_cdc._typed_view_query(sql, manifest)) }}
{%- endmacro -%}
