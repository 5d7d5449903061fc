{#- How the files are written that a state is laid out in, for the next statement of this session: it is shuffled in small parts, of which as many go into a
    file as have the size (Spark counts bytes as they are shuffled, of which Parquet makes less); and timestamps as numbers, for Spark's own default (INT96) has
    no minimum and maximum by which readers could skip. Arguments: entity, rows. -#}
{%- macro _set_file_size(entity, rows) -%}
    {%- do spark_cdc._send('set spark.sql.adaptive.advisoryPartitionSizeInBytes = ' ~ entity.target_file_mb ~ 'm') -%}
    {%- do spark_cdc._send('set spark.sql.adaptive.coalescePartitions.initialPartitionNum = ' ~ [[32, rows // 200000] | max, 10000] | min) -%}
    {%- do spark_cdc._send('set spark.sql.parquet.outputTimestampType = TIMESTAMP_MICROS') -%}
{%- endmacro -%}


{%- macro _reset_file_size() -%}
    {%- do spark_cdc._send('reset spark.sql.adaptive.advisoryPartitionSizeInBytes') -%}
    {%- do spark_cdc._send('reset spark.sql.adaptive.coalescePartitions.initialPartitionNum') -%}
    {%- do spark_cdc._send('reset spark.sql.parquet.outputTimestampType') -%}
{%- endmacro -%}
