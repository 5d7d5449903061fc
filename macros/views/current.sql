{#- The model <entity>_current: what is true now, one row per key and never a deleted one. -#}
{%- macro current() -%}
    {{- config(materialized='cdc_view') -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set committed = ref(name ~ '_committed') -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- the graph is not there at parse time -#}
    {{ return(spark_cdc.current_sql(spark_cdc.entity(name), committed, spark_cdc._may_broadcast(name, committed))) }}
{%- endmacro -%}


{#- Whether the keys written since the checkpoint are few enough to be broadcast by readers. -#}
{%- macro _may_broadcast(name, committed) -%}
    {%- if model['resource_type'] == 'unit_test' or not spark_cdc._is_load_command() -%}
        {{ return(true) }}
    {%- endif -%}
    {{ return(spark_cdc._is_log_small(spark_cdc.entity(name), spark_cdc.read_manifest(committed))) }}
{%- endmacro -%}
