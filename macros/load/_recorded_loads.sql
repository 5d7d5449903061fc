{#- The loads of an entity that cdc_loads has, whose files are plain whatever those of ledgers are. -#}
{%- macro _recorded_loads(load_log, entity) -%}
    {%- set loads = [] -%}
    {%- for row in spark_cdc._query('show partitions ' ~ load_log ~ ' partition (entity = ' ~ spark_cdc._literal(entity.name) ~ ')') -%}
        {%- do loads.append(row.partition.split('load_id=')[1]) -%}
    {%- endfor -%}
    {{ return(loads) }}
{%- endmacro -%}
