{#- A dot in a schema's name (a catalog inside it) makes dbt miss the tables that are there and build them anew. A branch that is asked for has to be there.
    Returns a list of texts. -#}
{%- macro _schema_problems(schema) -%}
    {{ return(spark_cdc._broken({'schema': schema}, [
        ('.' in schema,
         "the schema '%(schema)s' has a dot in its name: dbt would not find the ledger in it and would start it anew. Accepted are names without "
         "dots; set `schema` in the profile to one and the catalog in Spark's configuration (spark.sql.defaultCatalog)."),
    ]) + spark_cdc._branch_problems()) }}
{%- endmacro -%}
