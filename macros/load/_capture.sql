{#- An entity with its relations, as the steps of a load and the operations on ledgers hand it on. replay is the
    view of a draft, load_log is cdc_loads. Arguments: entity (of _entity()), schema. -#}
{%- macro _capture(entity, schema) -%}
    {{ return({
        'entity': entity,
        'schema': schema,
        'ledger': spark_cdc._relation_in(schema, entity.name ~ '_ledger'),
        'events': spark_cdc._relation_in(schema, entity.name ~ '_events'),
        'committed': spark_cdc._relation_in(schema, entity.name ~ '_committed'),
        'replay': spark_cdc._relation_in(schema, entity.name ~ '_replay'),
        'load_log': spark_cdc._load_log(),
    }) }}
{%- endmacro -%}


{#- The capture that the model at hand belongs to. -#}
{%- macro _capture_of_model() -%}
    {{ return(spark_cdc._capture(spark_cdc._entity(spark_cdc._entity_name()), model['schema'])) }}
{%- endmacro -%}
