{#- The loads of an entity that have a row in cdc_loads: ids. In a branch also those that have one in production's. -#}
{%- macro _recorded_loads(load_log, entity) -%}
    {%- set loads = spark_cdc._partitions_by_load(load_log, entity) | list -%}
    {%- if spark_cdc._own(load_log) != load_log -%}
        {%- set origin = spark_cdc._branch_origin(spark_cdc._view_text(load_log)) -%}
        {%- do loads.extend(spark_cdc._partitions_by_load(spark_cdc._relation_in(origin.of.schema, origin.of.name), entity)) -%}
    {%- endif -%}
    {{ return(loads) }}
{%- endmacro -%}
