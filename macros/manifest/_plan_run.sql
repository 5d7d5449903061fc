{#- The plan of the load at hand, and the manifest that it comes from. dbt docs, compile and list have no business date;
    loads are refused without one by validate(). -#}
{%- macro _plan_run(entity) -%}
    {%- set time = spark_cdc._business_time() -%}
    {%- if time is none -%}
        {%- set manifest = spark_cdc._empty_manifest() -%}
    {%- else -%}
        {%- set manifest = spark_cdc._manifest_of_run(entity, spark_cdc._sibling(entity.name ~ '_committed'), time) -%}
    {%- endif -%}
    {{ return({
        'manifest': manifest,
        'load': spark_cdc._plan_load(entity, manifest, time or modules.datetime.datetime(1970, 1, 1), spark_cdc._is_wiped(entity.name)),
    }) }}
{%- endmacro -%}
