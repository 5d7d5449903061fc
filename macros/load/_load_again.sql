{#- Loads the date of a run whose ledger, or events, this invocation has not written: `dbt retry` leaves out what it takes for done, and only an attempt of its own can
    judge the data as they are now. Staging is worked out here, as only stage() can be: a model stg_<entity> that does more is refused.
    Arguments: run (of _planned_run()). -#}
{%- macro _load_again(run) -%}
    {%- set entity, name = run.entity, run.entity.name -%}
    {%- set node, package = spark_cdc.entity_node(name), model['unique_id'].rsplit('.', 1)[0] -%}
    {%- set settings = spark_cdc._settings_of(node) -%}
    {#- what validate() asks of the models that dbt has selected, which a retry does not tell -#}
    {%- set problems = spark_cdc._var_problems() + spark_cdc._entity_problems(name, node) + spark_cdc._model_problems(name, settings, package ~ '.' ~ name ~ '_ledger')
        + spark_cdc._run_problems([(name, settings)]) -%}
    {%- if not spark_cdc._is_plainly_staged(name) -%}
        {%- do problems.append(name ~ ': ' ~ name ~ '_ledger is not part of this run (dbt retry leaves out what it takes for done), and stg_' ~ name
            ~ ' is more than spark_cdc.stage(), which is all that can be made up for. Load the date: ' ~ spark_cdc._load_command(entity, run.load.business_time) ~ '.') -%}
    {%- endif -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error('Nothing was written:\n  - ' ~ problems | join('\n  - ')) -%}
    {%- endif -%}
    {%- do log(name ~ ': loading ' ~ run.load.business_time ~ ' again, of which this run has not written the ledger', info=true) -%}
    {%- set incoming = run.events if entity.events else '(\n' ~ spark_cdc._stage_sql(entity, spark_cdc._landed_view(entity)) ~ '\n)' -%}
    {%- do spark_cdc._load_ledger(run, spark_cdc._ledger_query(run, incoming)) -%}
{%- endmacro -%}


{#- Whether the command at hand is dbt retry, which has its models from the run before and not from a selection. In a process that has run something else before,
    nothing tells: there the ledger itself says that a load is not in it. -#}
{%- macro _is_load_again() -%}
    {{ return(spark_cdc._is_begun_load() and not model.get('tested_node_unique_id') and model['unique_id'] not in selected_resources) }}
{%- endmacro -%}
