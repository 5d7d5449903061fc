{#- What <entity>_ledger writes: what came in, compared with the state before it.
    Arguments: run (of _planned_run()), incoming (staging, or <entity>_events). Returns SQL that begins with the plan of the load as a comment. -#}
{%- macro _ledger_query(run, incoming) -%}
    {%- set entity = run.entity -%}
    {%- set secrets = spark_cdc._check_secret(run) if spark_cdc._is_load_command() or spark_cdc._is_plan() else {} -%}
    {%- set change = spark_cdc._check_definition(run, run.load, not entity.events) or {} -%}
    {%- set load = dict(
        run.load,
        definition=spark_cdc._definition(entity),
        **dict(spark_cdc._run_of_load(), **dict(change, **({'secrets': secrets} if secrets else {})))
    ) -%}
    {#- a plan writes nothing that a second statement could read -#}
    {%- if spark_cdc._deletes_apart(entity, load) and not spark_cdc._is_plan() -%}{%- set load = dict(load, deletes_apart=true) -%}{%- endif -%}
    {%- set prior = load.pop('prior', none) or spark_cdc._laid_out(entity, run.ledger, load.layout) -%}
    {%- do load.pop('keep') -%}
    {%- set compared = dict(run, load=load, prior=prior, broadcast=spark_cdc._is_few(entity, run.manifest.log_rows)) -%}
    {%- if entity.events -%}
        {%- set staged = spark_cdc._staged_events(compared, incoming) -%}
        {%- set load = dict(load, events=staged.summary, **staged.noted) -%}
        {%- set sql = spark_cdc._tag_events_sql(compared, staged.relation, staged.summary) -%}
    {%- else -%}
        {%- set sql = spark_cdc._tag_sql(compared, incoming) -%}
    {%- endif -%}
{{ spark_cdc._load_comment(load) }}
{{ sql }}
{%- endmacro -%}
