{#- Writes a row of cdc_loads. Arguments as of record_load_sql(). Returns nothing. -#}
{%- macro _record_load(load_log, entity, load, audit, now=true, refusal=none) -%}
    {%- do run_query('set spark.sql.sources.partitionOverwriteMode = dynamic') -%}
    {%- do run_query(spark_cdc.record_load_sql(load_log, entity, load, audit, now, refusal)) -%}
{%- endmacro -%}
