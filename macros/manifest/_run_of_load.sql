{#- Which run writes a load, as its record has it. -#}
{%- macro _run_of_load() -%}
    {{ return({
        'started_at': spark_cdc._time_now('%Y-%m-%d %H:%M:%S.%f'),
        'invocation_id': invocation_id,
        'dbt_version': dbt_version,
        'spark_cdc_version': spark_cdc._version(),
    }) }}
{%- endmacro -%}
