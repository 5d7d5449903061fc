{#- Adds a load that was just committed to cdc_loads, unless another run of the entity did so meanwhile: a row that people may be
    reading is not overwritten. Arguments as of record_load_sql(). Returns nothing. -#}
{%- macro _record_load(load_log, entity, load, audit) -%}
    {%- set partition = ' partition (entity = ' ~ spark_cdc._literal(entity.name) ~ ', load_id = ' ~ spark_cdc._literal(load.load_id) ~ ')' -%}
    {%- if not spark_cdc._query('show partitions ' ~ load_log ~ partition) -%}
        {%- do run_query('set spark.sql.sources.partitionOverwriteMode = dynamic') -%}
        {%- do run_query(spark_cdc.record_load_sql(load_log, entity, load, audit)) -%}
    {%- endif -%}
{%- endmacro -%}
