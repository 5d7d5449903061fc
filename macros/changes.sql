{#- Change feeds, in the words of Delta (docs/changes.md). Without arguments it is the model <entity>_changes: the changes of all loads that count.
    With the name of an entity it is a query of what changed from one version to another, for those who keep something up to date:
        select * from ({{ '{{' }} spark_cdc.changes('orders', from_version) {{ '}}' }}) as changes
    Arguments: entity (name), from_version (the version that the consumer has, whose own changes are not among those given; none if it has nothing: it
    gets the state as inserts), to_version (the last whose changes are given; none for the newest). Returns a query. -#}
{%- macro changes(entity=none, from_version=none, to_version=none) -%}
    {%- if entity is not none -%}
        {%- set view = spark_cdc._whole(ref(entity ~ '_changes')) -%}
        {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
        {{ return(spark_cdc._feed_sql(spark_cdc._capture(spark_cdc._entity(entity), view.schema), view, from_version, to_version)) }}
    {%- endif -%}
    {%- set view = spark_cdc._view_of_entity() -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {{ return(spark_cdc._typed_view_query(spark_cdc._changes_sql(spark_cdc._entity(view.name), view.committed), spark_cdc._manifest_of_view(view.plain))) }}
{%- endmacro -%}
