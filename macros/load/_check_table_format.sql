{#- What a new table of Delta or Iceberg needs of the server, asked before anything is written: that it keeps such tables in the session's catalog, where the
    views are, too. With Iceberg's extension of SQL views would be Iceberg's, which can't be altered in place; and sessions are not to go on reading a table as
    they found it, for half a minute by default: readers would see a load without its rows. Arguments: entity, table (relation). -#}
{%- macro _check_table_format(entity, table) -%}
    {%- set format, session_catalog = entity.file_format, 'spark.sql.catalog.spark_catalog' -%}
    {%- set found = {} -%}
    {%- for name in [session_catalog, session_catalog ~ '.cache-enabled', 'spark.sql.extensions'] -%}
        {%- do found.update({name: spark_cdc._query('set `' ~ name ~ '`')[0].value | string}) -%}
    {%- endfor -%}
    {%- set catalog = found[session_catalog] -%}
    {%- set problem -%}
        {%- if ('DeltaCatalog' if format == 'delta' else 'iceberg') not in catalog -%}
the server does not keep such tables beside views ({{ session_catalog }} is {{ catalog }}). Start the local one with them: spark-cdc server stop, {# -#}
then spark-cdc server start --with {{ format }}{{ ' alone (beside Delta, Iceberg has a catalog of its own)' if format == 'iceberg' and 'Delta' in catalog }}
        {%- elif format == 'iceberg' and 'iceberg' in found['spark.sql.extensions'] -%}
with Iceberg's extension of SQL the server makes views of Iceberg's own, which can't be altered in place. Start it without that in {# -#}
spark.sql.extensions, as spark-cdc server start --with iceberg does: Spark 4 needs it neither for merge nor for call
        {%- elif format == 'iceberg' and found[session_catalog ~ '.cache-enabled'] != 'false' -%}
sessions of the server go on reading Iceberg's tables as they found them, so that readers would miss rows of new loads. Start it with {# -#}
{{ session_catalog }}.cache-enabled=false, as spark-cdc server start --with iceberg does
        {%- endif -%}
    {%- endset -%}
    {%- if problem -%}
        {%- do exceptions.raise_compiler_error(
            entity.name ~ ': file_format is ' ~ format ~ ', but ' ~ problem ~ '. ' ~ table ~ ' was not made, and nothing was written; docs/file_formats.md tells more.'
        ) -%}
    {%- endif -%}
{%- endmacro -%}
