{#- What is wrong with the models of an entity as to its sensitive columns (docs/sensitive.md): those that show them lie in the schema apart, others would
    show what is not theirs to show. Arguments: name, models (unique id that those of the entity begin with). Returns a list of texts. -#}
{%- macro _sensitive_model_problems(name, models) -%}
    {%- set stage = graph.nodes.get(models.rsplit('.', 1)[0] ~ '.stg_' ~ name) or {} -%}
    {%- set sensitive = spark_cdc._described_columns(stage) | selectattr('sensitive') | map(attribute='name') | list -%}
    {%- set schema = spark_cdc._sensitive_schema() if sensitive else none -%}
    {%- set values = {'name': name, 'names': sensitive | join(', '), 'schema': schema, 'var': 'the var spark_cdc_sensitive_schema'} -%}
    {%- set problems = [] -%}
    {%- for kind in ['committed', 'current', 'history', 'versions', 'changes', 'rejects', 'event_versions', 'bitemporal'] -%}
        {%- set plain, apart = graph.nodes.get(models ~ '_' ~ kind), graph.nodes.get(models ~ '_' ~ kind ~ '_sensitive') -%}
        {%- do problems.extend(spark_cdc._broken(dict(values, kind=kind, found=apart.schema if apart else none), [
            (sensitive and plain and kind in ['event_versions', 'bitemporal'],
             '%(name)s: %(name)s_%(kind)s would show the sensitive columns (%(names)s) as events have them. Rename the model to %(name)s_%(kind)s_sensitive.'),
            (apart and not sensitive,
             '%(name)s: %(name)s_%(kind)s_sensitive is there, but no column is sensitive. Say `sensitive: true` under meta of one, or remove the model.'),
            (apart and sensitive and apart.schema != schema,
             '%(name)s: the model %(name)s_%(kind)s_sensitive is built in %(found)s, but sensitive columns lie in %(schema)s (%(var)s). Give the '
             'model no schema.'),
        ])) -%}
    {%- endfor -%}
    {%- set committed = graph.nodes.get(models ~ '_committed_sensitive') -%}
    {{ return(problems + spark_cdc._broken(values, [
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
