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
    {%- if not spark_cdc._is_plainly_staged(name) -%}{%- do spark_cdc._refuse_load_again(run) -%}{%- endif -%}
    {%- if problems -%}
        {%- do exceptions.raise_compiler_error('Nothing was written:\n  - ' ~ problems | join('\n  - ')) -%}
    {%- endif -%}
    {%- do log(name ~ ': loading ' ~ run.load.business_time ~ ' again, of which this run has not written the ledger', info=true) -%}
    {%- set incoming = run.events if entity.events else '(\n' ~ spark_cdc._stage_sql(entity, spark_cdc._landed_view(entity)) ~ '\n)' -%}
    {%- do spark_cdc._load_ledger(run, spark_cdc._ledger_query(run, incoming)) -%}
{%- endmacro -%}


{#- Whether the ledger or the events of an entity are missing in a retry: the command has not written them, and either dbt names nothing that is selected, as for a
    retry in a process of its own, or it names that model of the run before. Arguments: capture, kind (ledger or events). -#}
{%- macro _is_load_again(capture, kind) -%}
    {%- if not spark_cdc._is_begun_load() or model.get('tested_node_unique_id') or spark_cdc._load_again_is_written(capture, kind) -%}{{ return(false) }}{%- endif -%}
    {%- set id = model['unique_id'].rsplit('.', 1)[0] ~ '.' ~ capture.entity.name ~ '_' ~ kind -%}
    {{ return(model['unique_id'] not in selected_resources or id in selected_resources) }}
{%- endmacro -%}


{#- Whether this invocation has begun to write them: a name in dbt's cache, which no statement is needed for and no other invocation sees. -#}
{%- macro _load_again_is_written(capture, kind) -%}{{ return(load_cached_relation(spark_cdc._load_again_mark(capture, kind)) is not none) }}{%- endmacro -%}


{%- macro _load_again_mark(capture, kind) -%}
    {{ return(spark_cdc._relation_in(capture.schema, capture.entity.name ~ '_' ~ kind ~ '_written_' ~ spark_cdc._attempt())) }}
{%- endmacro -%}


{%- macro _refuse_load_again(run) -%}
    {%- set name = run.entity.name -%}
    {%- set message -%}
{{ name }}: nothing of {{ run.load.business_time }} is in this run (dbt retry leaves out what it takes for done), and it can't be made up for: that takes a model {# -#}
stg_{{ name }} that is nothing but spark_cdc.stage(), and a landing. Nothing was written. Load the date: {{ spark_cdc._load_command(run.entity, run.load.business_time) }}.
    {%- endset -%}
    {%- do exceptions.raise_compiler_error(message) -%}
{%- endmacro -%}
