{#- Checks the vars and the configuration of the entities of a run before anything runs
    (on-run-start); where a run has selected no model of ours and no test of one, nothing. All
    that is wrong is collected and raised in one message; of entities that the run does not load
    (those of which nothing but views is made, and all without a business date) it is a warning, as
    long as name and columns are right. `spark-cdc status` reports what is wrong with any entity.
    Returns an empty text: there is no SQL to run. -#}
{%- macro validate() -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- at parse time there is no graph yet -#}
    {%- set touched = spark_cdc._touched_by_run() -%}
    {%- set entities = [] -%}
    {%- for name, node, ledger in spark_cdc._entity_nodes() if touched -%}
        {%- do entities.append((name, node, ledger)) if ([node.unique_id] + spark_cdc._model_ids(ledger)) | select('in', touched) | list -%}
    {%- endfor -%}
    {#- which entities are read for, also by published tables and views with other names -#}
    {%- do spark_cdc._other_platform() if entities or spark_cdc._has_own_models(touched) -%}
    {%- if not entities and 'model.spark_cdc.cdc_loads' not in touched -%}{{ return('') }}{%- endif -%}
    {%- set loads, undated, schemas, problems = [], [], [], [] -%}
    {%- for name, node, ledger in entities -%}
        {%- set is_undated = spark_cdc._is_undated(name) -%}
        {%- if ledger in selected_resources -%}{%- do (undated if is_undated else loads).append((name, spark_cdc._settings_of(node))) -%}{%- endif -%}
        {%- do schemas.append(graph.nodes[ledger].schema ~ '_commits') -%}
        {%- do schemas.append(spark_cdc._sensitive_schema()) if spark_cdc._has_sensitive(spark_cdc._columns_of(node)) -%}
        {%- do problems.extend(spark_cdc._problems_of_run(name, node, ledger, is_undated)) -%}
        {%- set manifest = spark_cdc._cached_manifest(spark_cdc._relation_in(graph.nodes[ledger].schema, name ~ '_committed'))
            if spark_cdc._adds_columns(node) else none -%}
        {%- do spark_cdc._entity_with(name, node, manifest.added) if manifest -%}
    {%- endfor -%}
    {%- set problems = spark_cdc._schema_problems(target.schema) + problems + spark_cdc._problems_of_loads(loads, undated) -%}
    {%- for warning in spark_cdc._config_warnings() -%}{%- do exceptions.warn('spark_cdc: ' ~ warning) -%}{%- endfor -%}
    {%- set problems = problems | unique | list -%}
    {%- if problems -%}
        {%- set message -%}
            spark_cdc found {{ spark_cdc._counted(problems | length, 'problem') }} before anything was written:
            {{- '\n  - ' ~ problems | join('\n  - ') }}
        {%- endset -%}
        {%- do spark_cdc._refuse_settings(message) -%}
    {%- endif -%}
    {%- if undated -%}{%- do spark_cdc._note_undated(undated | map('first') | list) -%}{%- endif -%}
    {%- if spark_cdc._mode() == 'load' -%}
        {%- for schema in schemas | unique -%}{%- do spark_cdc._make_schema(schema) -%}{%- endfor -%}
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
            {%- set name = result.node.name.removesuffix('_committed') -%}
            {%- do committed.append(name) if spark_cdc._is_loading(name) -%}
        {%- endfor -%}
    {%- endif -%}
    {%- do spark_cdc.maintain(committed, execute=true) if committed -%}
    {{ return('') }}
{%- endmacro -%}


{#- What a run has selected, and what the tests among it test: a dictionary by unique id. -#}
{%- macro _touched_by_run() -%}
    {%- set touched = {} -%}
    {%- for id in selected_resources -%}
        {%- set parts = id.split('.') -%}
        {%- do touched.update({id: true, 'model.' ~ parts[1] ~ '.' ~ parts[2]: true}) -%}
        {%- for tested in ((graph.nodes.get(id) or {}).get('depends_on') or {}).get('nodes', []) if parts[0] == 'test' -%}{%- do touched.update({tested: true}) -%}{%- endfor -%}
    {%- endfor -%}
    {{ return(touched) }}
{%- endmacro -%}


{#- Whether a model of one of our materializations is among them. Argument: ids (as keys). -#}
{%- macro _has_own_models(ids) -%}
    {%- for id in ids if (((graph.nodes.get(id) or {}).get('config') or {}).get('materialized') or '').startswith('cdc_') -%}{{ return(true) }}{%- endfor -%}
    {{ return(false) }}
{%- endmacro -%}


{#- What is wrong with an entity of a run; warns of what stops no load. Without a business date
    nothing is: its own models stop where they can't be made (_check_usable()), and no others.
    Arguments as of _entity_problems(), ledger (unique id of its ledger), is_undated. Returns a list
    of texts. -#}
{%- macro _problems_of_run(name, node, ledger, is_undated) -%}
    {%- set found, models = spark_cdc._entity_problems(name, node), ledger.removesuffix('_ledger') -%}
    {%- set is_load = [ledger, models ~ '_committed', models ~ '_events'] | select('in', selected_resources) | list != [] and not is_undated -%}
    {%- set needed = spark_cdc._needed_problems(name, node) + spark_cdc._placement_problems(name, ledger) -%}
    {%- for warning in spark_cdc._column_warnings(name, node) -%}{%- do exceptions.warn('spark_cdc: ' ~ warning) -%}{%- endfor -%}
    {%- if found and not is_load -%}
        {%- do exceptions.warn('spark_cdc: ' ~ name ~ " can't be loaded as it is declared:\n  - " ~ found | join('\n  - ')) -%}
    {%- endif -%}
    {%- if is_undated -%}
        {%- do spark_cdc._memo().update({'unusable ' ~ name: needed | unique | list}) if needed -%}
        {{ return([]) }}
    {%- endif -%}
    {%- set problems = found + spark_cdc._placement_problems(name, ledger) if is_load else needed -%}
    {%- if ledger not in selected_resources -%}{{ return(problems) }}{%- endif -%}
    {{ return(problems + spark_cdc._model_problems(name, spark_cdc._settings_of(node), ledger)
        + (spark_cdc._missing_secret_problems(name, node) if spark_cdc._is_loading(name) else [])) }}
{%- endmacro -%}


{#- What a load of an entity asks of dbt beside what all ask: rows of _dbt_problems(). -#}
{%- macro _asked_of_dbt(entity) -%}
    {%- set of = entity.name ~ ': ' -%}
    {{ return([
        (of ~ 'file_format ' ~ entity.file_format, spark_cdc._table_facts(entity.file_format).on_dbt_2),
        (of ~ 'source.format ' ~ entity.source.format, entity.source.facts.on_dbt_2),
        (of ~ 'source.stream', entity.source.stream is not mapping),
        (of ~ 'source.on_unexpected_column add', entity.source.on_unexpected_column != 'add'),
        (of ~ 'keyless', not entity.keyless),
        (of ~ 'events.format ' ~ (entity.events or {}).get('format'), not entity.events or entity.events.format == 'flagged_rows'),
    ]) }}
{%- endmacro -%}


{#- What is wrong with the vars of a run, and with the server that it loads with. Arguments: loads,
    undated (entities whose ledgers are selected, with and without a business date: (name,
    settings)). Returns a list of texts. -#}
{%- macro _problems_of_loads(loads, undated) -%}
    {%- set found = spark_cdc._var_problems(none if loads else ['spark_cdc_sensitive_schema', 'spark_cdc_require_business_date', 'spark_cdc_platform']) -%}
    {%- set found = found + spark_cdc._undated_problems(loads, undated) -%}
    {%- if not loads or found or spark_cdc._mode() not in ['load', 'operate'] -%}{{ return(found) }}{%- endif -%}
    {%- set asked = [] -%}
    {%- for name, _ in loads if spark_cdc._of_dbt_2() -%}{%- do asked.extend(spark_cdc._asked_of_dbt(spark_cdc._entity(name))) -%}{%- endfor -%}
    {%- for id in selected_resources if spark_cdc._of_dbt_2() and ((graph.nodes.get(id) or {}).get('config') or {}).get('materialized') == 'cdc_published' -%}
        {%- do asked.append(('the published table ' ~ graph.nodes[id].name, false)) -%}
    {%- endfor -%}
    {{ return(spark_cdc._dbt_problems(asked) + spark_cdc._run_problems(loads) + spark_cdc._spark_problems(loads) + spark_cdc._catalog_problems()) }}
{%- endmacro -%}
