{#- A dot in a schema's name (a catalog inside it) makes dbt miss the tables that are there and build them anew. -#}
{%- macro _schema_problems(schema) -%}
    {%- if '.' in schema -%}
        {{ return([
            "the schema '" ~ schema ~ "' has a dot in its name: dbt would not find the ledger in it and would start it "
            ~ "anew. Accepted are names without dots; set `schema` in the profile to one and the catalog in Spark's "
            ~ "configuration (spark.sql.defaultCatalog)."
        ]) }}
    {%- endif -%}
    {{ return([]) }}
{%- endmacro -%}


{#- The models of an entity find each other by name, so they must lie in one schema and have no other alias. -#}
{%- macro _placement_problems(name, ledger) -%}
    {%- set schema = graph.nodes[ledger].schema -%}
    {%- set problems = spark_cdc._schema_problems(schema) -%}
    {%- for suffix in ['_ledger', '_committed'] -%}
        {%- set node = graph.nodes.get(ledger[:-7] ~ suffix) -%}
        {%- if node and (node.schema != schema or node.alias != node.name) -%}
            {%- do problems.append(
                name ~ ': the model ' ~ node.name ~ ' is built as ' ~ node.schema ~ '.' ~ node.alias ~ ', but the models of an '
                ~ 'entity have to lie in one schema (' ~ schema ~ ') under their own names. Give all of them the same '
                ~ 'schema and no alias.'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The models that the load type calls for. -#}
{%- macro _event_model_problems(name, settings, ledger) -%}
    {%- set prefix = ledger.rsplit('.', 1)[0] ~ '.' ~ name -%}
    {%- set reads_events = (prefix ~ '_events') in (graph.nodes[ledger].get('depends_on') or {}).get('nodes', []) -%}
    {%- set problems = [] -%}
    {%- if settings.get('load_type') == 'events' and not reads_events -%}
        {%- do problems.append(name ~ ': load_type is events, but ' ~ name ~ '_ledger does not read ' ~ name ~ '_events. Write the model '
            ~ name ~ '_events with spark_cdc.events() in it, and spark_cdc.ledger(events=true) into ' ~ name ~ '_ledger.') -%}
    {%- elif settings.get('load_type') != 'events' and reads_events -%}
        {%- do problems.append(name ~ ': ' ~ name ~ '_ledger reads ' ~ name ~ '_events, but load_type is ' ~ settings.get('load_type')
            ~ '. Set load_type: events, or write spark_cdc.ledger() into ' ~ name ~ '_ledger.') -%}
    {%- endif -%}
    {%- if (prefix ~ '_event_versions') in graph.nodes and not (settings.get('events') or {}).get('archive') -%}
        {%- do problems.append(name ~ ': ' ~ name ~ '_event_versions reads the events of all loads, but they are not kept. Set '
            ~ 'events.archive: true in the YAML of stg_' ~ name ~ ', or remove the model.') -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- --full-refresh starts a ledger anew only where the entity is named in `spark_cdc_wipe`. -#}
{%- macro _wipe_problems(names) -%}
    {%- set wipe = var('spark_cdc_wipe', []) or [] -%}
    {%- set wipe = [wipe] if wipe is string else wipe -%}
    {%- set problems = [] -%}
    {%- for name in wipe if name not in names -%}
        {%- do problems.append(
            "spark_cdc_wipe names '" ~ name ~ "', which is no entity of this run (" ~ names | join(', ')
            ~ "). Name entities that are loaded, or leave the var out."
        ) -%}
    {%- endfor -%}
    {%- if wipe and not flags.FULL_REFRESH -%}
        {%- do problems.append(
            "spark_cdc_wipe is given without --full-refresh. To start the ledger of " ~ wipe | join(', ')
            ~ " anew give both; else leave the var out."
        ) -%}
    {%- endif -%}
    {{ return(problems) }}
{%- endmacro -%}
