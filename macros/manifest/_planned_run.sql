{#- What the steps of a load share: the capture (see _capture()) with time (the business time), manifest (that it builds on) and load (its
    plan, of _plan_load()). dbt docs, compile and list have no business date; loads are refused without one by validate(). Arguments: capture,
    is_planned (whether a model of the entity has planned the load in this run: see _head()). -#}
{%- macro _planned_run(capture, is_planned=false) -%}
    {%- set time = spark_cdc._business_time_of(capture.entity.name) -%}
    {%- set manifest = spark_cdc._empty_manifest() if time is none else spark_cdc._manifest_of_run(capture, time, is_planned) -%}
    {%- set load = spark_cdc._plan_load(
        capture.entity, manifest, time or modules.datetime.datetime(1970, 1, 1), spark_cdc._is_wiped(capture.entity.name)) -%}
    {{ return(dict(capture, time=time, manifest=manifest, load=load)) }}
{%- endmacro -%}
