{#- The entities that vacuum and compact work on, or a data test verifies, and what is there of them. Arguments as of _named_entities(). Returns its
    dictionaries with events, load_log (relations), nodes (dbt's models of the entity, by relation name) and catalog (see
    _catalog_of()). -#}
{%- macro _operated_entities(operation, names=none) -%}
    {%- set operated = [] -%}
    {%- for named in spark_cdc._named_entities(operation, names) -%}
        {%- do operated.append(dict(
            named,
            events=spark_cdc._relation_in(named.schema, named.entity.name ~ '_events'),
            load_log=spark_cdc._load_log(),
            nodes=spark_cdc._models_of(named.ledger_node, named.entity.name),
            catalog=spark_cdc._catalog_of(named.schema, named.entity.name),
        )) -%}
    {%- endfor -%}
    {{ return(operated) }}
{%- endmacro -%}


{#- dbt's models of an entity (committed, current, …), by their names. -#}
{%- macro _models_of(ledger_node, name) -%}
    {%- set models = {} -%}
    {%- for node in graph.nodes.values()
            if node.resource_type == 'model' and node.name.startswith(name ~ '_') and node.package_name == ledger_node.package_name -%}
        {%- do models.update({node.name: node}) -%}
    {%- endfor -%}
    {{ return(models) }}
{%- endmacro -%}
