{#- Lets the session read more encodings than the seven of Spark 4, and nanoseconds in Parquet, which
    pandas writes, as numbers (encoding: nanos). -#}
{%- macro _set_for_reading(entity) -%}
    {%- set plain = ['iso-8859-1', 'us-ascii', 'utf-16', 'utf-16be', 'utf-16le', 'utf-32', 'utf-8'] -%}
    {%- if entity.source.format == 'parquet' -%}
        {%- do spark_cdc._send('set spark.sql.legacy.parquet.nanosAsLong = true') -%}
    {%- elif entity.source.format == 'csv' and spark_cdc._reader_option(entity, ['encoding', 'charset'], 'utf-8') | lower not in plain -%}
        {%- do spark_cdc._send('set spark.sql.legacy.javaCharsets = true') -%}
    {%- endif -%}
{%- endmacro -%}
