{#- What is wrong with the catalog in which a run would make its relations: the one that is the session's default. A commit alters a view in place, which
    Spark's own catalog does in one transaction. Others have no views, such as those of Iceberg, or make views of their own, which can't be altered so.
    Returns a list of texts. -#}
{%- macro _catalog_problems() -%}
    {%- set catalog = (spark_cdc._query('select current_catalog() as catalog') | first | default({})).get('catalog') or 'spark_catalog' -%}
    {%- if catalog == 'spark_catalog' -%}{{ return([]) }}{%- endif -%}
    {%- set kind = spark_cdc._query('set `spark.sql.catalog.' ~ catalog ~ '`') | map(attribute='value') | first | string -%}
    {%- set refusal = spark_cdc._plan_refusal(spark_cdc._plan('create view ' ~ spark_cdc._quote(target.schema) ~ '.spark_cdc_probe as select 1 as id')) -%}
    {{ return(spark_cdc._broken({'catalog': catalog, 'kind': kind, 'target': target.name, 'why': refusal}, [
        (refusal is not none or 'iceberg' in kind | lower,
         'the default catalog of the target %(target)s is %(catalog)s (%(kind)s), '
         ~ ('which has no views (%(why)s)' if refusal else "whose views are Iceberg's own, which can't be altered in place")
         ~ '. Accepted is a catalog in which commits can alter views: leave spark.sql.defaultCatalog out of the profile and of '
         "Spark's settings, so that it is spark_catalog. For ledgers in Iceberg make that Iceberg's (SparkSessionCatalog, as spark-cdc server start --with iceberg "
         'does); tables of %(catalog)s can still be sources. docs/file_formats.md tells more.'),
    ])) }}
{%- endmacro -%}
