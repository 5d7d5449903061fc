{#- cdc_loads: created if it is not there, and otherwise left alone, also by --full-refresh. -#}
{% materialization cdc_load_log, adapter='spark' %}
    {{ run_hooks(pre_hooks) }}
    {%- set existing = load_cached_relation(this) -%}
    {%- call statement('main') -%}
        {{ spark_cdc._create_load_log_sql(this) }}
    {%- endcall -%}
    {%- if existing is not none -%}
        {%- do spark_cdc._complete_load_log(this) -%}
    {%- endif -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmaterialization %}
