{#- The load type of an entity in this run: what the var `spark_cdc_load_type` says, else the environment variable SPARK_CDC_LOAD_TYPE, else the
    YAML. Arguments: name (of the entity), settings (its meta.spark_cdc). -#}
{%- macro _load_type(name, settings) -%}
    {{ return(spark_cdc._load_type_of_run(name) or settings.load_type) }}
{%- endmacro -%}


{#- What this run says of the load type of an entity: a type for all entities of the run, or a type for each: {orders: full}; none where it says nothing. -#}
{%- macro _load_type_of_run(name) -%}
    {%- set given = spark_cdc._load_types_given() -%}
    {{ return(given.get(name) if given is mapping else given) }}
{%- endmacro -%}


{#- The same as it was given, which nobody has checked. -#}
{%- macro _load_types_given() -%}
    {{ return(spark_cdc._of_run('spark_cdc_load_type', 'SPARK_CDC_LOAD_TYPE') or none) }}
{%- endmacro -%}


{#- The load type that the name of a load tells: none of those that compact wrote. -#}
{%- macro _load_type_of_name(load_id) -%}
    {{ return({'f': 'full', 'd': 'delta', 'e': 'events', 's': 'full'}.get(load_id.split('-')[1][0])) }}
{%- endmacro -%}


{#- The same of several loads, in their order. -#}
{%- macro _load_types_of_names(loads) -%}
    {%- set types = [] -%}
    {%- for load_id in loads -%}{%- do types.append(spark_cdc._load_type_of_name(load_id)) -%}{%- endfor -%}
    {{ return(types) }}
{%- endmacro -%}
