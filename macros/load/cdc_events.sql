{#- The events of a load, written into a partition of their own. Those of earlier loads go after the commit, unless the entity
    archives its events: only the load at hand is read. In a replay from the archive they are taken from the partition of the
    load that is rebuilt. -#}
{% materialization cdc_events, adapter='spark' %}
    {{ run_hooks(pre_hooks) }}
    {%- do spark_cdc._load_events(spark_cdc._capture_of_model(), sql) -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='table' if spark_cdc._own(this) == this else 'view')]}) }}
{% endmaterialization %}
