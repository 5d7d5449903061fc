{#- What is wrong with the models of an entity. Arguments: name, settings (as they were written),
    ledger (unique id of its ledger).
    Returns a list of texts. -#}
{%- macro _model_problems(name, settings, ledger) -%}
    {%- set models = ledger.removesuffix('_ledger') -%}
    {%- set is_events = settings.get('load_type') == 'events' -%}
    {%- set reads_events = models ~ '_events' in (graph.nodes[ledger].get('depends_on') or {}).get('nodes', []) -%}
    {%- set is_archived = settings.get('events') is mapping and settings.events.get('archive') -%}
    {%- set is_feed = spark_cdc._source_facts(settings.get('source')).reads == 'feed' -%}
    {%- set quarantines = 'quarantine' in [settings.get('on_reject'), settings.get('on_duplicate_key')] -%}
    {%- set rules = settings.get('rules') if settings.get('rules') is mapping else {} -%}
    {%- set drops = rules.values() | select('mapping') | selectattr('action', 'defined') | selectattr('action', 'equalto', 'drop') | list -%}
    {#- stored columns that have the name of a column that a view adds -#}
    {%- set stored, views = spark_cdc._columns_of(graph.nodes.get(models.rsplit('.', 1)[0] ~ '.stg_' ~ name) or {}), [] -%}
    {%- for view in spark_cdc._archive_kinds() if models ~ '_' ~ view in graph.nodes and not is_archived -%}
        {%- do views.append((true, '%(name)s: %(name)s_' ~ view ~ ' reads the events of all loads, but they are not kept. Set events.archive: true in '
            'the YAML of stg_%(name)s, or remove the model.')) -%}
    {%- endfor -%}
    {%- for view, added in {
        'changes': ['_change_type', '_commit_version', '_commit_timestamp'],
        'bitemporal': ['valid_from', 'valid_to', 'known_from', 'known_to'],
    }.items() if models ~ '_' ~ view in graph.nodes -%}
        {%- set names = [] -%}
        {%- for column in stored if column.name | lower in added and column.meta.get('role') != 'control' -%}{%- do names.append(column.name) -%}{%- endfor -%}
        {%- set names = names | join(', ') -%}
        {%- do views.append((names, '%(name)s: the columns ' ~ names ~ ' would come twice in %(name)s_' ~ view ~ ', which has its own of these names. '
            'Give them other names (from), or remove the model.')) -%}
    {%- endfor -%}
    {{ return(spark_cdc._placement_problems(name, ledger) + spark_cdc._sensitive_model_problems(name, models) + spark_cdc._failed_rules({'name': name, 'load_type': settings.get('load_type')}, [
        (is_events and not reads_events,
         '%(name)s: load_type is events, but %(name)s_ledger does not read %(name)s_events. Write the model %(name)s_events with '
         'spark_cdc.events() in it, and spark_cdc.ledger(events=true) into %(name)s_ledger.'),
        (reads_events and settings and not is_events,
         '%(name)s: %(name)s_ledger reads %(name)s_events, but load_type is %(load_type)s. Set load_type: events, or write spark_cdc.ledger() '
         'into %(name)s_ledger.'),
        (drops and models ~ '_rejects' not in graph.nodes,
         '%(name)s: rules drop rows, but no model shows them. Write the model %(name)s_rejects with spark_cdc.rejects() in it.'),
        (is_feed and not spark_cdc._is_plainly_staged(name),
         '%(name)s: source.format is change_feed, which %(name)s_ledger reads without stg_%(name)s. Write nothing but spark_cdc.stage() into it.'),
    ] + views + [
        (quarantines and models ~ '_rejects' not in graph.nodes,
         '%(name)s: rejected rows are quarantined, but no model shows them. Write the model %(name)s_rejects with spark_cdc.rejects() in it.'),
    ])) }}
{%- endmacro -%}


{#- The models of an entity find each other by name, so they must lie in one schema and have no
    other alias. Those that show sensitive columns lie apart. -#}
{%- macro _placement_problems(name, ledger) -%}
    {%- set schema = graph.nodes[ledger].schema -%}
    {%- set problems = spark_cdc._schema_problems(schema) -%}
    {%- set message = '%s: the model %s is built as %s.%s, but the models of an entity have to lie in one schema (%s) under their own names, by which '
                      'they find each other. Give all of them the same schema and no alias; a model of your own may show them under another name.' -%}
    {%- for id in spark_cdc._model_ids(ledger) if id in graph.nodes -%}
        {%- set node = graph.nodes[id] -%}
        {%- if node.schema != schema and not id.endswith('_sensitive') or node.alias != node.name -%}
            {%- do problems.append(message % (name, node.name, node.schema, node.alias, schema)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- What is wrong with the models of an entity as to its sensitive columns (docs/sensitive.md):
    those that show them lie in the restricted schema, others would show what is not theirs to show.
    Arguments: name, models (unique id that those of the entity begin with). Returns a list of
    texts. -#}
{%- macro _sensitive_model_problems(name, models) -%}
    {%- set stage = graph.nodes.get(models.rsplit('.', 1)[0] ~ '.stg_' ~ name) or {} -%}
    {%- set sensitive = spark_cdc._columns_of(stage) | selectattr('meta.sensitive', 'defined') | selectattr('meta.sensitive') | map(attribute='name') | list -%}
    {%- set schema = spark_cdc._sensitive_schema() if sensitive else none -%}
    {%- set values = {'name': name, 'names': sensitive | join(', '), 'schema': schema, 'var': 'the var spark_cdc_sensitive_schema'} -%}
    {%- set problems = [] -%}
    {%- for kind in ['committed'] + spark_cdc._view_kinds() -%}
        {%- set plain, apart = graph.nodes.get(models ~ '_' ~ kind), graph.nodes.get(models ~ '_' ~ kind ~ '_sensitive') -%}
        {%- do problems.extend(spark_cdc._failed_rules(dict(values, kind=kind, found=apart.schema if apart else none), [
            (sensitive and plain and kind in spark_cdc._archive_kinds(),
             '%(name)s: %(name)s_%(kind)s would show the sensitive columns (%(names)s) as events have them. Rename the model to %(name)s_%(kind)s_sensitive.'),
            (apart and not sensitive,
             '%(name)s: %(name)s_%(kind)s_sensitive is there, but no column is sensitive. Say `sensitive: true` under meta of one, or remove the model.'),
            (apart and sensitive and apart.schema != schema,
             '%(name)s: the model %(name)s_%(kind)s_sensitive is built in %(found)s, but sensitive columns lie in %(schema)s (%(var)s). Give the '
             'model no schema.'),
        ])) -%}
    {%- endfor -%}
    {%- set committed = graph.nodes.get(models ~ '_committed_sensitive') -%}
    {{ return(problems + spark_cdc._failed_rules(values, [
        (sensitive and not committed,
         '%(name)s: %(names)s sensitive, but no model shows them. Write the model %(name)s_committed_sensitive with spark_cdc.committed() in it, which '
         '%(name)s_current_sensitive and so on read.'),
        (sensitive and schema == graph.nodes[models ~ '_ledger'].schema,
         '%(name)s: %(names)s sensitive, but %(var)s names the schema of the others, %(schema)s. Name another one, or write a generate_schema_name '
         'that keeps them apart.'),
        (sensitive and env_var('SPARK_CDC_BRANCH', ''),
         '%(name)s: %(names)s sensitive, and branches of entities with sensitive columns are not supported yet. Leave --branch or the entity out.'),
    ])) }}
{%- endmacro -%}


{#- A dot in a schema's name (a catalog inside it) makes dbt miss the tables that are there and
    build them anew. A branch that is asked for has to be there.
    Returns a list of texts. -#}
{%- macro _schema_problems(schema) -%}
    {{ return(spark_cdc._failed_rules({'schema': schema}, [
        ('.' in schema,
         "the schema '%(schema)s' has a dot in its name: dbt would not find the ledger in it and would start it anew. Accepted are names without "
         "dots; set `schema` in the profile to one and the catalog in Spark's configuration (spark.sql.defaultCatalog)."),
    ]) + spark_cdc._branch_problems()) }}
{%- endmacro -%}


{#- What dbt's configuration of our models asks for and the server can't do: grants, and
    descriptions of a view's columns (see _apply_config()). Returns a list of texts. -#}
{%- macro _config_warnings() -%}
    {%- set found = {'grants': [], 'columns': []} -%}
    {%- for id in selected_resources if id in graph.nodes -%}
        {%- set node = graph.nodes[id] -%}
        {%- set config = node.get('config') or {} -%}
        {%- if (config.get('materialized') or '').startswith('cdc_') -%}
            {%- do found.grants.append(node.name) if config.get('grants') and target.method not in ['http', 'odbc'] -%}
            {%- do found.columns.append(node.name) if config.materialized == 'cdc_view' and (config.get('persist_docs') or {}).get('columns') -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set warnings = [] -%}
    {%- if found.grants -%}
        {%- do warnings.append("grants of %s: nothing is granted, since Apache Spark's SQL has no GRANT. Grant in the catalogue. dbt's methods http and odbc "
            'reach servers that have it.' % (found.grants | sort | join(', '))) -%}
    {%- endif -%}
    {%- if found.columns -%}
        {%- do warnings.append("persist_docs.columns of %s: Spark keeps no descriptions of a view's columns when it is altered, so none are written. "
            'dbt docs shows them; persist_docs.relation works.' % (found.columns | sort | join(', '))) -%}
    {%- endif -%}
    {{ return(warnings) }}
{%- endmacro -%}
