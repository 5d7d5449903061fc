{#- Publishes a load: audits what the ledger holds of it, then makes it visible, then adds it to cdc_loads. Where the run loads nothing, the view
    is only brought up to date with the columns. -#}
{% materialization cdc_committed, adapter='spark' %}
    {%- set capture = spark_cdc._capture_of_model() -%}
    {%- set is_again = spark_cdc._is_load_again(capture, 'ledger') -%}
    {%- set loads_now = ((model['unique_id'].rsplit('.', 1)[0] ~ '.' ~ capture.masked.identifier) in selected_resources
        or spark_cdc._load_again_is_written(capture, 'ledger') or is_again and spark_cdc._is_due(capture)) and spark_cdc._is_load_command() -%}
    {%- set run = spark_cdc._planned_run(capture, is_planned=not is_again) if loads_now else dict(capture, manifest=spark_cdc._head(capture)) -%}
    {{ run_hooks(pre_hooks) }}
    {%- do spark_cdc._ensure_load_log(capture.load_log) -%}  {#- it may not be part of this run -#}
    {%- if loads_now -%}
        {%- do spark_cdc._commit_load(run) -%}
    {%- else -%}
        {%- do spark_cdc._commit_nothing(run) -%}
    {%- endif -%}
    {%- do store_raw_result('main', message='OK', code='OK', rows_affected='-1') -%}
    {{ run_hooks(post_hooks) }}
    {{ return({'relations': [this.incorporate(type='view')]}) }}
{% endmaterialization %}
