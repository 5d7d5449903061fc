{#- What dbt's snapshots ask for the table that they go on with. dbt-spark takes a table for one of Iceberg by its provider, and where Iceberg is the session's catalog
    that is Hive's: a second snapshot would be refused. Arguments as of dbt's get_or_create_relation. Returns whether it is there, and the relation. -#}
{%- macro spark__get_or_create_relation(database, schema, identifier, type) -%}
    {%- set found, relation = default__get_or_create_relation(database, schema, identifier, type) -%}
    {%- if found and spark_cdc._provider_of(relation) == 'iceberg' -%}
        {%- set relation = relation.incorporate(is_iceberg=true) -%}
    {%- endif -%}
    {{ return([found, relation]) }}
{%- endmacro -%}
