{#- Rows that differ between two states of an entity, as a query to select from:
    select * from ({{ '{{' }} spark_cdc.diff(ref('orders_current'), '2024-03-01', '2024-03-04') {{ '}}' }}) as changed
    Arguments: view (relation of a view of the entity, such as <entity>_current), before and after (each a date or a load, whose state at its end
    is meant, or a tag; neither: the present state of production, and of the branch that the view lies in). Returns a query: row_difference (added, removed or changed), the key columns, key_hash, and column_differences,
    an array of {column_name, value_before, value_after}, values as text. Columns that are ignored are not compared. -#}
{%- macro diff(view, before=none, after=none) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {%- set capture = spark_cdc._capture(spark_cdc._entity(spark_cdc._strip_entity_affix(view.identifier)), view.schema) -%}
    {{ return(spark_cdc._diff_of_sql(capture, before, after)) }}
{%- endmacro -%}
