{#- cdc_loads: created if it is not there, and otherwise left alone, also by --full-refresh. Columns that a later version records are added. -#}
{% materialization cdc_load_log, adapter='spark' %}
    {{ run_hooks(pre_hooks) }}
    {%- do spark_cdc._ensure_load_log(this) -%}
    {%- do store_raw_result('main', message='OK', code='OK', rows_affected='-1') -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table' if spark_cdc._own(this) == this else 'view')]}) }}
{% endmaterialization %}
