{#- A published table: brought from the version that it has to the one that readers of the entity see. Delta and Iceberg by MERGE, Parquet and ORC by a
    new table behind a view. --empty and --sample write nothing, nor do the loads of a replay before it is published. -#}
{% materialization cdc_published, adapter='spark' %}
    {%- set target = spark_cdc._target_of_query(sql, this) -%}
    {{ run_hooks(pre_hooks) }}
    {%- set message = 'UNCHANGED' -%}
    {%- if spark_cdc._is_load_command() and spark_cdc._replay() is none -%}
        {%- set message = spark_cdc._keep_target(target, sql) -%}
    {%- endif -%}
    {%- do store_raw_result('main', message=message, code=message, rows_affected='-1') -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='view' if target.is_view else 'table')]}) }}
{% endmaterialization %}
