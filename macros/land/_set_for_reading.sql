{#- What this session has to know to read an entity's files: that more encodings than the seven of Spark 4 are accepted, and that nanoseconds of Parquet, as
    pandas writes them, are read as numbers (encoding: nanos) rather than not at all. -#}
{%- macro _set_for_reading(entity) -%}
    {%- set plain = ['iso-8859-1', 'us-ascii', 'utf-16', 'utf-16be', 'utf-16le', 'utf-32', 'utf-8'] -%}
    {%- if entity.source.format == 'parquet' -%}
        {%- do spark_cdc._send('set spark.sql.legacy.parquet.nanosAsLong = true') -%}
    {%- elif entity.source.format == 'csv' and spark_cdc._reader_option(entity, ['encoding', 'charset'], 'utf-8') | lower not in plain -%}
        {%- do spark_cdc._send('set spark.sql.legacy.javaCharsets = true') -%}
    {%- endif -%}
{%- endmacro -%}
