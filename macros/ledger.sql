{#- The model <entity>_ledger: what this load writes. Its rows stay invisible until <entity>_committed names the
    load.

    The SQL begins with the load as JSON, in a comment: a materialization gets nothing from its model but the SQL, and this is the contract
    between the two. It names what the rows were compared with and how (load_id, parent, base, log, is_checkpoint, layout, of change events
    the summary), so that what is written, and the record of the load in the ledger (its row L, the same JSON), can't tell another story than
    the rows. See _load_comment(), _plan_load() for its parts, and cdc_ledger, which reads it back.

    Arguments: events (whether the entity's load type is events: it then reads <entity>_events). Returns the model's SQL. -#}
{%- macro ledger(events=false) -%}
    {{- config(materialized='cdc_ledger', tags=spark_cdc._selector_tag(spark_cdc._entity_name())) -}}
    {%- set name = spark_cdc._entity_name() -%}
    {%- set incoming = ref(name ~ '_events') if events else ref('stg_' ~ name) -%}
    {%- if not execute -%}{{ return('') }}{%- endif -%}  {#- neither graph nor server at parse time -#}
    {%- set run = spark_cdc._planned_run(spark_cdc._capture_of_model(), is_planned=events) -%}
    {#- `this`, for which unit tests give rows; but the ledger of an entity with sensitive columns is another table, and so are its events -#}
    {%- if not run.entity.sensitive -%}{{ return(spark_cdc._ledger_query(dict(run, ledger=this), incoming)) }}{%- endif -%}
    {{ return(spark_cdc._ledger_query(run, run.events if events else incoming)) }}
{%- endmacro -%}
