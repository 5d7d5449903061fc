{#- The loads of an entity that have a row in cdc_loads: ids. In a branch also those that have one in production's. A row that a crash left under its old status
    too (see _set_load_status()) is dropped there. -#}
{%- macro _recorded_loads(load_log, entity) -%}
    {%- set found, stale = spark_cdc._partitions_by_load(load_log, entity), [] -%}
    {%- for partitions in found.values() if partitions | length > 1 -%}
        {%- for one in partitions if one.split('=')[-1] in ['committed', 'refused'] -%}{%- do stale.append(one) -%}{%- endfor -%}
    {%- endfor -%}
    {%- do spark_cdc._send(spark_cdc._drop_partitions_sql(load_log, stale)) if stale -%}
    {%- set loads = found | list -%}
    {%- if spark_cdc._own(load_log) != load_log -%}
        {%- set origin = spark_cdc._branch_origin(spark_cdc._view_text(load_log)) -%}
        {%- do loads.extend(spark_cdc._partitions_by_load(spark_cdc._relation_in(origin.of.schema, origin.of.name), entity)) -%}
    {%- endif -%}
    {{ return(loads) }}
{%- endmacro -%}
