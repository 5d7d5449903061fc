{#- Checks the vars and the configuration of the entities of a run before anything runs
    (on-run-start); where a run has selected no model of ours and no test of one, nothing. All
    that is wrong is collected and raised in one message; of entities of which nothing but views is
    made it is a warning, as long as name and columns are right. `spark-cdc status` reports what is
    wrong with any entity. Returns an empty text: there is no SQL to run. -#}
{%- macro validate() -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- at parse time there is no graph yet -#}
    {#- what is selected, and what the tests among it test -#}
    {%- set touched, entities = {}, [] -%}
    {%- for id in selected_resources -%}
        {%- set parts = id.split('.') -%}
        {%- do touched.update({id: true, 'model.' ~ parts[1] ~ '.' ~ parts[2]: true}) -%}
        {%- for tested in ((graph.nodes.get(id) or {}).get('depends_on') or {}).get('nodes', []) if parts[0] == 'test' -%}{%- do touched.update({tested: true}) -%}{%- endfor -%}
    {%- endfor -%}
    {%- for name, node, ledger in spark_cdc._entity_nodes() if touched -%}
        {%- do entities.append((name, node, ledger)) if ([node.unique_id] + spark_cdc._model_ids(ledger)) | select('in', touched) | list -%}
    {%- endfor -%}
    {%- if not entities and 'model.spark_cdc.cdc_loads' not in touched -%}{{ return('') }}{%- endif -%}
    {%- set var_problems = spark_cdc._var_problems() -%}
    {%- set problems = spark_cdc._schema_problems(target.schema) -%}
    {%- set loads, claims, restricted = [], [], [] -%}
    {%- for name, node, ledger in entities -%}
        {%- set found, models = spark_cdc._entity_problems(name, node), ledger.removesuffix('_ledger') -%}
        {%- set is_load = [ledger, models ~ '_committed', models ~ '_events'] | select('in', selected_resources) | list != [] -%}
        {%- do claims.append(graph.nodes[ledger].schema ~ '_commits') -%}
        {%- do restricted.append(spark_cdc._sensitive_schema()) if spark_cdc._columns_of(node) | map(attribute='meta') | selectattr('sensitive', 'defined') | selectattr('sensitive') | list -%}
        {%- do problems.extend((found if is_load else spark_cdc._needed_problems(name, node)) + spark_cdc._placement_problems(name, ledger)) -%}
        {%- for warning in spark_cdc._column_warnings(name, node) -%}{%- do exceptions.warn('spark_cdc: ' ~ warning) -%}{%- endfor -%}
        {%- if found and not is_load -%}
            {%- do exceptions.warn('spark_cdc: ' ~ name ~ " can't be loaded as it is declared:\n  - " ~ found | join('\n  - ')) -%}
        {%- endif -%}
        {%- if ledger in selected_resources -%}
            {%- do loads.append((name, spark_cdc._settings_of(node))) -%}
            {%- do problems.extend(spark_cdc._model_problems(name, spark_cdc._settings_of(node), ledger)) -%}
            {%- if spark_cdc._mode() in ['load', 'operate'] -%}{%- do problems.extend(spark_cdc._missing_secret_problems(name, node)) -%}{%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- do problems.extend(var_problems if loads else spark_cdc._var_problems(['spark_cdc_sensitive_schema'])) -%}
    {%- if loads and spark_cdc._mode() in ['load', 'operate'] and not var_problems -%}
        {%- do problems.extend(spark_cdc._run_problems(loads) + spark_cdc._spark_problems(loads) + spark_cdc._catalog_problems()) -%}
    {%- endif -%}
    {%- for warning in spark_cdc._config_warnings() -%}{%- do exceptions.warn('spark_cdc: ' ~ warning) -%}{%- endfor -%}
    {%- set problems = problems | unique | list -%}
    {%- if problems -%}
        {%- set message -%}
            spark_cdc found {{ spark_cdc._counted(problems | length, 'problem') }} before anything was written:
            {{- '\n  - ' ~ problems | join('\n  - ') }}
        {%- endset -%}
        {% do exceptions.raise_compiler_error(message) %}
    {%- endif -%}
    {%- if spark_cdc._mode() == 'load' -%}
        {%- for schema in (claims + restricted) | unique -%}{%- do spark_cdc._send('create schema if not exists ' ~ spark_cdc._quote(schema)) -%}{%- endfor -%}
    {%- endif -%}
    {{ return('') }}
{%- endmacro -%}


{#- What follows a run (on-run-end): maintenance by policy of the entities of which it has committed
    a load, see maintain(), where the var spark_cdc_maintain_in_run asks for it; replays are left
    alone. Returns an empty text: there is no SQL to run. -#}
{%- macro end_run() -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}
    {%- do spark_cdc._verify_note(results) -%}
    {%- set committed = [] -%}
    {%- if spark_cdc._mode() == 'load' and spark_cdc._replay() is none and spark_cdc._var('spark_cdc_maintain_in_run') -%}
        {%- for result in results if result.status == 'success' and result.node.resource_type == 'model' and result.node.config.materialized == 'cdc_committed' -%}
            {%- do committed.append(result.node.name.removesuffix('_committed')) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- do spark_cdc.maintain(committed, execute=true) if committed -%}
    {{ return('') }}
{%- endmacro -%}
