{#- cdc_loads: created if it is not there, and otherwise left alone, also by --full-refresh. -#}
{% materialization cdc_load_log, adapter='spark' %}
    {{ run_hooks(pre_hooks) }}
    {%- call statement('main') -%}
        create table if not exists {{ this }} (
            {%- for name, data_type in spark_cdc.load_log_columns().items() %}
            {{ name }} {{ data_type }}{{ ',' if not loop.last }}
            {%- endfor %}
        )
        using parquet
        partitioned by (entity, load_id)
    {%- endcall -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}
