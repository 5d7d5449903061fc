{#- Checks the configuration of every entity of the run, and the vars, before anything runs (on-run-start).
    All that is wrong is collected and raised in one message. Returns an empty text: there is no SQL to run. -#}
{%- macro validate() -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- at parse time there is no graph yet -#}
    {%- set problems = spark_cdc._schema_problems(target.schema) -%}
    {%- set loads = [] -%}
    {%- set replayed = [] -%}
    {%- for node in graph.nodes.values() if node.resource_type == 'model' and node.name.startswith('stg_') -%}
        {%- set name = node.name[4:] -%}
        {%- set ledger = node.unique_id.rsplit('.', 1)[0] ~ '.' ~ name ~ '_ledger' -%}
        {%- if ledger in graph.nodes and spark_cdc._settings_of(node) -%}
            {%- do problems.extend(spark_cdc._entity_problems(name, node)) -%}
            {%- if ledger in selected_resources -%}
                {%- do problems.extend(spark_cdc._placement_problems(name, ledger)) -%}
                {%- do problems.extend(spark_cdc._event_model_problems(name, spark_cdc._settings_of(node), ledger)) -%}
                {%- do problems.extend(spark_cdc._rejects_model_problems(name, spark_cdc._settings_of(node), ledger)) -%}
                {%- do replayed.append((name, spark_cdc._settings_of(node))) -%}
                {%- do loads.append((name, spark_cdc._settings_of(node).get('business_date_type', 'date'))) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if loads and spark_cdc._is_load_command() -%}
        {%- do problems.extend(spark_cdc._business_date_problems(var('business_date', none), loads)) -%}
        {%- do problems.extend(spark_cdc._wipe_problems(loads | map('first') | list)) -%}
        {%- do problems.extend(spark_cdc._guard_var_problems(loads | map('first') | list)) -%}
        {%- do problems.extend(spark_cdc._replay_problems(var('spark_cdc_replay', none), var('business_date', none), replayed)) -%}
        {%- do problems.extend(spark_cdc._rekey_problems(loads | map('first') | list)) -%}
    {%- endif -%}
    {%- do problems.extend(spark_cdc._file_format_problems()) -%}
    {%- set problems = problems | unique | list -%}
    {%- if problems -%}
        {% do exceptions.raise_compiler_error(
            'spark_cdc found ' ~ (problems | length) ~ (' problem' if problems | length == 1 else ' problems')
            ~ ' before anything was written:\n  - ' ~ problems | join('\n  - ')
        ) %}
    {%- endif -%}
    {{ return('') }}
{%- endmacro -%}
