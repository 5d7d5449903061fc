{#- How large the files are that a state is written in, for the next statement of this session: it is shuffled in small parts, of which as many go into a
    file as have the size. Spark counts bytes as they are shuffled, of which Parquet makes less. Arguments: entity, rows. -#}
{%- macro _set_file_size(entity, rows) -%}
    {%- do run_query('set spark.sql.adaptive.advisoryPartitionSizeInBytes = ' ~ entity.target_file_mb ~ 'm') -%}
    {%- do run_query('set spark.sql.adaptive.coalescePartitions.initialPartitionNum = ' ~ [[32, rows // 200000] | max, 10000] | min) -%}
{%- endmacro -%}


{%- macro _reset_file_size() -%}
    {%- do run_query('reset spark.sql.adaptive.advisoryPartitionSizeInBytes') -%}
    {%- do run_query('reset spark.sql.adaptive.coalescePartitions.initialPartitionNum') -%}
{%- endmacro -%}
