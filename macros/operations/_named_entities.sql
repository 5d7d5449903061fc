{#- The entities that an operation is about, checked as a run checks them; all that is wrong is raised at once.
    Arguments: operation (name of the macro, for messages), names (list of entities, or one; none for all). Returns a list of
    dictionaries: entity (of _entity()), ledger_node (dbt's), schema, ledger, committed (relations). -#}
{%- macro _named_entities(operation, names=none) -%}
    {%- set wanted = [names] if names is string else (names or []) -%}
    {%- set problems = spark_cdc._schema_problems(target.schema) -%}
    {%- set known = [] -%}
    {%- set found = [] -%}
    {%- for name, node, ledger in spark_cdc._entity_nodes() -%}
        {%- do known.append(name) -%}
        {%- if not wanted or name in wanted -%}
            {%- do problems.extend(spark_cdc._entity_problems(name, node)) -%}
            {%- do found.append((name, node, graph.nodes[ledger])) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- for name in wanted if name not in known -%}
        {%- do problems.append("there is no entity '" ~ name ~ "' with a model stg_" ~ name ~ ' and a model ' ~ name
            ~ '_ledger; accepted are ' ~ known | join(', ')) -%}
    {%- endfor -%}
    {%- if problems -%}
        {% do exceptions.raise_compiler_error(
            'spark_cdc.' ~ operation ~ ' found ' ~ spark_cdc._counted(problems | length, 'problem')
            ~ ' before anything was done:\n  - ' ~ problems | unique | join('\n  - ')
        ) %}
    {%- endif -%}

    {%- set named = [] -%}
    {%- for name, node, ledger in found -%}
        {%- do named.append({
            'entity': spark_cdc._described_entity(name, node),
            'ledger_node': ledger,
            'schema': ledger.schema,
            'ledger': spark_cdc._relation_in(ledger.schema, name ~ '_ledger'),
            'committed': spark_cdc._relation_in(ledger.schema, name ~ '_committed'),
        }) -%}
    {%- endfor -%}
    {{ return(named) }}
{%- endmacro -%}
