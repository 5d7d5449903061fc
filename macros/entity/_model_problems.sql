{#- What is wrong with the models of an entity. Arguments: name, settings (as they were written), ledger (unique id of its ledger).
    Returns a list of texts. -#}
{%- macro _model_problems(name, settings, ledger) -%}
    {%- set models = ledger.removesuffix('_ledger') -%}
    {%- set is_events = settings.get('load_type') == 'events' -%}
    {%- set reads_events = models ~ '_events' in (graph.nodes[ledger].get('depends_on') or {}).get('nodes', []) -%}
    {%- set is_archived = settings.get('events') is mapping and settings.events.get('archive') -%}
    {%- set is_feed = settings.get('source') is mapping and settings.source.get('format') == 'change_feed' -%}
    {%- set quarantines = 'quarantine' in [settings.get('on_reject'), settings.get('on_duplicate_key')] -%}
    {%- set rules = settings.get('rules') if settings.get('rules') is mapping else {} -%}
    {%- set drops = rules.values() | select('mapping') | selectattr('action', 'defined') | selectattr('action', 'equalto', 'drop') | list -%}
    {{ return(spark_cdc._placement_problems(name, ledger) + spark_cdc._sensitive_model_problems(name, models) + spark_cdc._broken({'name': name, 'load_type': settings.get('load_type')}, [
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
    ] + spark_cdc._archive_reader_problems(models, is_archived) + spark_cdc._repeated_column_problems(name, models) + [
        (quarantines and models ~ '_rejects' not in graph.nodes,
         '%(name)s: rejected rows are quarantined, but no model shows them. Write the model %(name)s_rejects with spark_cdc.rejects() in it.'),
    ])) }}
{%- endmacro -%}


{#- Views of all events, of an entity that does not keep them. Returns a list of pairs (condition, message). -#}
{%- macro _archive_reader_problems(models, is_archived) -%}
    {%- set problems = [] -%}
    {%- for view in ['event_versions', 'bitemporal'] -%}
        {%- do problems.append((models ~ '_' ~ view in graph.nodes and not is_archived,
            '%(name)s: %(name)s_' ~ view ~ ' reads the events of all loads, but they are not kept. Set events.archive: true in the YAML of '
            'stg_%(name)s, or remove the model.')) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- Stored columns that have the name of a column that a view adds. Returns the same. -#}
{%- macro _repeated_column_problems(name, models) -%}
    {%- set added = {
        'changes': ['_change_type', '_commit_version', '_commit_timestamp'],
        'bitemporal': ['valid_from', 'valid_to', 'known_from', 'known_to'],
    } -%}
    {%- set problems = [] -%}
    {%- for view, names in added.items() -%}
        {%- set repeated = [] -%}
        {%- for column in spark_cdc._columns_of(graph.nodes.get(models.rsplit('.', 1)[0] ~ '.stg_' ~ name) or {})
                if column.name | lower in names and spark_cdc._meta_of(column).get('role') != 'control' -%}
            {%- do repeated.append(column.name) -%}
        {%- endfor -%}
        {%- do problems.append((repeated and models ~ '_' ~ view in graph.nodes,
            '%(name)s: the columns ' ~ repeated | join(', ') ~ ' would come twice in %(name)s_' ~ view ~ ', which has its own of these names. Give '
            'them other names (from), or remove the model.')) -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}


{#- The models of an entity find each other by name, so they must lie in one schema and have no other alias. -#}
{%- macro _placement_problems(name, ledger) -%}
    {%- set schema = graph.nodes[ledger].schema -%}
    {%- set problems = spark_cdc._schema_problems(schema) -%}
    {%- set message = '%s: the model %s is built as %s.%s, but the models of an entity have to lie in one schema (%s) under their own names. '
                      'Give all of them the same schema and no alias.' -%}
    {%- for id in [ledger, ledger.removesuffix('_ledger') ~ '_committed'] if id in graph.nodes -%}
        {%- set node = graph.nodes[id] -%}
        {%- if node.schema != schema or node.alias != node.name -%}
            {%- do problems.append(message % (name, node.name, node.schema, node.alias, schema)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(problems) }}
{%- endmacro -%}
