{#- The schemas of a branch by those of production that they stand for: the target's schema is the branch's name, and where a model has a schema of its own,
    which dbt puts behind the target's (cdc_sales), so it does there (pr_7_sales). Argument: schemas (of production). Returns a dictionary; none for a schema
    that does not begin with the target's. -#}
{%- macro _branch_schemas(name, schemas) -%}
    {%- set found = {target.schema: name} -%}
    {%- for schema in schemas | unique | reject('equalto', target.schema) -%}
        {%- set rest = schema.removeprefix(target.schema ~ '_') -%}
        {%- do found.update({schema: name ~ '_' ~ rest if rest != schema else none}) -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}


{#- The schemas of production that entities of this project and cdc_loads lie in. -#}
{%- macro _branch_production_schemas() -%}
    {%- set schemas = [target.schema] -%}
    {%- for name, node, ledger in spark_cdc._entity_nodes() -%}{%- do schemas.append(graph.nodes[ledger].schema) -%}{%- endfor -%}
    {%- set load_log = spark_cdc._load_log() -%}
    {%- if load_log is not none -%}{%- do schemas.append(load_log.schema) -%}{%- endif -%}
    {{ return(schemas | unique | list) }}
{%- endmacro -%}
