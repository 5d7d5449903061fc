{#- cdc_loads: created if it is not there, and otherwise left alone, also by --full-refresh. -#}
{% materialization cdc_load_log, adapter='spark' %}
    {{ run_hooks(pre_hooks) }}
    {%- call statement('main') -%}
        {{ spark_cdc._create_load_log_sql(this) }}
    {%- endcall -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}


{%- macro _create_load_log_sql(load_log) -%}
create table if not exists {{ load_log }} (
    {%- for name, data_type in spark_cdc._load_log_columns().items() %}
    {{ name }} {{ data_type }}{{ ',' if not loop.last }}
    {%- endfor %}
)
using parquet
partitioned by (entity, load_id)
{%- endmacro -%}
