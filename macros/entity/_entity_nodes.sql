{#- The entities of the project: what has a model stg_<name>, and a model <name>_ledger that calls ledger(); or, as unit
    tests have it, settings. Returns a list of
    (name, node of stg_<name>, unique id of the ledger), in the order of the names. -#}
{%- macro _entity_nodes() -%}
    {%- set found = [] -%}
    {%- for node in graph.nodes.values() | sort(attribute='name') if node.resource_type == 'model' and node.name.startswith('stg_') -%}
        {%- set name = node.name[4:] -%}
        {%- set ledger = node.unique_id.rsplit('.', 1)[0] ~ '.' ~ name ~ '_ledger' -%}
        {%- set config = (graph.nodes[ledger].get('config') or {}) if ledger in graph.nodes else {} -%}
        {%- if config.get('materialized') == 'cdc_ledger' or (ledger in graph.nodes and spark_cdc._settings_of(node)) -%}
            {%- do found.append((name, node, ledger)) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
