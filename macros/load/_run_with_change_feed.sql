{#- A run whose entity knows what it reads of its table's change feed; as it is where the source is another one. Argument: run (of _planned_run()). -#}
{%- macro _run_with_change_feed(run) -%}
    {%- if run.entity.source.format != 'change_feed' -%}{{ return(run) }}{%- endif -%}
    {{ return(dict(run, entity=spark_cdc._entity_of_change_feed(run.entity, spark_cdc._change_feed_of_load(run)))) }}
{%- endmacro -%}
