{#- The ledger of an entity: writes one load into partitions of its own. Nothing that was there before is touched,
    and nothing that is written is visible until the manifest names it. An overwrite of named partitions gives the
    same when it is sent twice. --full-refresh does not drop the table (see spark_cdc_wipe). -#}
{% materialization cdc_ledger, adapter='spark' %}
    {{ run_hooks(pre_hooks) }}
    {%- do spark_cdc._load_ledger(spark_cdc._capture_of_model(), sql) -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table' if spark_cdc._own(this) == this else 'view')]}) }}
{% endmaterialization %}
