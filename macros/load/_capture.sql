{#- An entity with its relations, as the steps of a load and the operations on ledgers hand it on. Arguments: entity (of _entity()), schema.
    Returns a dictionary: entity, schema, ledger, events, committed, replay (the draft of a replay), load_log (cdc_loads; none where the
    project has no such model). -#}
{%- macro _capture(entity, schema) -%}
    {%- set relations = {} -%}
    {%- for table in ['ledger', 'events', 'committed', 'replay'] -%}
        {%- do relations.update({table: spark_cdc._relation_in(schema, entity.name ~ '_' ~ table)}) -%}
    {%- endfor -%}
    {{ return(dict(relations, entity=entity, schema=schema, load_log=spark_cdc._load_log())) }}
{%- endmacro -%}


{#- The capture that the model at hand belongs to. -#}
{%- macro _capture_of_model() -%}
    {{ return(spark_cdc._capture(spark_cdc._entity(spark_cdc._entity_name()), model['schema'])) }}
{%- endmacro -%}
