{#- What a new table of Delta or Iceberg needs of the server, asked before anything is written: that it has the format, in the session's catalog, for that
    keeps views, too; and of Iceberg that sessions do not go on reading a table as they found it, for half a minute by default: readers would see a
    load without its rows. Arguments: entity, table (relation). -#}
{%- macro _check_table_format(entity, table) -%}
    {%- set format = entity.file_format -%}
    {%- set found = {} -%}
    {%- for name in ['spark.sql.catalog.spark_catalog', 'spark.sql.catalog.spark_catalog.cache-enabled'] -%}
        {%- for row in spark_cdc._query('set ' ~ name) -%}{%- do found.update({name: row.value | string}) -%}{%- endfor -%}
    {%- endfor -%}
    {%- set catalog = found['spark.sql.catalog.spark_catalog'] -%}
    {%- set has_it = ('Delta' if format == 'delta' else 'iceberg') in catalog -%}
    {%- set problem -%}
        {%- if not has_it -%}
the server keeps no tables of {{ format }} (spark.sql.catalog.spark_catalog is {{ catalog }}). Start the local one with it: spark-cdc server stop, {# -#}
then spark-cdc server start --with {{ format }}; on a cluster see docs/file_formats.md
        {%- elif format == 'iceberg' and found['spark.sql.catalog.spark_catalog.cache-enabled'] != 'false' -%}
sessions of the server keep Iceberg's tables as they found them, so that readers would miss rows of new loads. Start it with {# -#}
spark.sql.catalog.spark_catalog.cache-enabled=false, as spark-cdc server start --with iceberg does
        {%- endif -%}
    {%- endset -%}
    {%- if problem -%}
        {%- do exceptions.raise_compiler_error(entity.name ~ ': file_format is ' ~ format ~ ', but ' ~ problem ~ '. ' ~ table ~ ' was not made, and nothing was written.') -%}
    {%- endif -%}
{%- endmacro -%}
