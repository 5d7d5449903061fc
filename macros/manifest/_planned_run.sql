{#- What the steps of a load share: the capture (see _capture()) with time (the business time), manifest (that it builds on) and load (its
    plan, of _plan_load()). dbt docs, compile and list have no business date; loads are refused without one by validate(). Arguments: capture,
    is_planned (whether a model of the entity has planned the load in this run: see _head()). -#}
{%- macro _planned_run(capture, is_planned=false) -%}
    {%- set time = spark_cdc._business_time_of(capture.entity.name) -%}
    {%- set manifest = spark_cdc._empty_manifest() if time is none else spark_cdc._manifest_of_run(capture, time, is_planned) -%}
    {%- set load = spark_cdc._plan_load(
        capture.entity, manifest, time or modules.datetime.datetime(1970, 1, 1), spark_cdc._is_wiped(capture.entity.name)) -%}
    {%- if load.replaced and (spark_cdc._is_load_command() or spark_cdc._is_plan()) -%}{%- do spark_cdc._check_load_type(capture.entity, load) -%}{%- endif -%}
    {{ return(dict(capture, time=time, manifest=manifest, load=load)) }}
{%- endmacro -%}


{#- The same where nothing will be written. The schema is made by the first run that loads. -#}
{%- macro _planned_run_to_look_at(capture) -%}
    {%- if adapter.check_schema_exists(target.database, capture.schema) -%}{{ return(spark_cdc._planned_run(capture)) }}{%- endif -%}
    {%- set time, manifest = spark_cdc._business_time_of(capture.entity.name), spark_cdc._empty_manifest() -%}
    {{ return(dict(capture, time=time, manifest=manifest, load=spark_cdc._plan_load(capture.entity, manifest, time))) }}
{%- endmacro -%}


{#- A date that was loaded with another load type for once is not loaded anew with the entity's own by oversight: a full snapshot that is read as a
    delta deletes nothing, and a delta that is read as a full snapshot deletes what it lacks. -#}
{%- macro _check_load_type(entity, load) -%}
    {%- set before = spark_cdc._load_type_of_name(load.replaced[-1]) -%}
    {%- if before in [none, load.load_type] or spark_cdc._is_archive_replay() or spark_cdc._load_type_of_run(entity.name) or spark_cdc._is_wiped(entity.name) -%}
        {{ return('') }}
    {%- endif -%}
    {%- set message -%}
{{ entity.name }}: {{ load.business_time }} was loaded with the load type {{ before }} ({{ load.replaced[-1] }}), and would now be loaded anew with {# -#}
{{ load.load_type }}, since this run says nothing. Nothing was written. Say which is meant, {{ before }} as before or {{ load.load_type }}: {# -#}
{{ spark_cdc._load_command(entity, load.business_time, more={'spark_cdc_load_type': '{' ~ entity.name ~ ': ' ~ before ~ '}'}) }}.
    {%- endset -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}
