{#- What dbt's configuration of our models asks for and they do not do yet: grants, persist_docs, and an alias (of the ledger and the committed view it is refused).
    Returns a list of texts. -#}
{%- macro _config_warnings() -%}
    {%- set instead = {
        'grants': 'grant in a hook (on-run-end) or in the catalogue',
        'persist_docs': 'dbt docs shows the descriptions',
        'alias': 'other models find these views by their names; a view of your own may have the name',
    } -%}
    {%- set found = {} -%}
    {%- for id in selected_resources if id in graph.nodes -%}
        {%- set node = graph.nodes[id] -%}
        {%- set config = node.get('config') or {} -%}
        {%- if (config.get('materialized') or '').startswith('cdc_') -%}
            {%- set has_alias = config.materialized == 'cdc_view' and (node.get('alias') or node.name) != node.name -%}
            {%- set given = {
                'grants': config.get('grants'),
                'persist_docs': (config.get('persist_docs') or {}).values() | select | list,
                'alias': has_alias,
            } -%}
            {%- for setting, value in given.items() if value -%}{%- do found.setdefault(setting, []).append(node.name) -%}{%- endfor -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set warnings = [] -%}
    {%- for setting, names in found.items() -%}
        {%- do warnings.append('%s of %s: not supported yet by models of spark_cdc, so it %s. Remove it; %s.' % (
            setting, names | sort | join(', '), 'may lead astray' if setting == 'alias' else 'has no effect', instead[setting])) -%}
    {%- endfor -%}
    {{ return(warnings) }}
{%- endmacro -%}
