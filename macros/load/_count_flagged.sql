{#- How many rows of a full snapshot are flagged as deleted, which only an entity of deltas can tell (deleted_when). Argument: run (of _planned_run()). -#}
{%- macro _count_flagged(run) -%}
    {%- set entity = run.entity -%}
    {%- do spark_cdc._land_load(entity, spark_cdc._landing_source(entity), run.time) -%}
    {%- set staged = '(\n' ~ spark_cdc._stage_sql(entity, spark_cdc._landed_view(entity)) ~ '\n) as staged' -%}
    {{ return(spark_cdc._query('select count(*) as row_count from ' ~ staged ~ ' where note is null and is_deleted')[0].row_count | int) }}
{%- endmacro -%}
