{#- An entity with its relations, as the steps of a load and the operations on ledgers hand it on. replay is the
    view of a draft, load_log is cdc_loads. ledger is where loads are written and compared, committed reads masked: the same table, but for an entity
    with sensitive columns (docs/sensitive.md). Its ledger and events lie in a schema apart, and masked has the ledger's partitions without
    these columns' values. Arguments: entity (of _entity()), schema. -#}
{%- macro _capture(entity, schema) -%}
    {%- set masked = spark_cdc._relation_in(schema, entity.name ~ '_ledger') -%}
    {%- set apart = spark_cdc._sensitive_schema() if entity.sensitive else none -%}
    {{ return({
        'entity': entity,
        'schema': schema,
        'ledger': spark_cdc._relation_in(apart, entity.name ~ '_ledger_sensitive') if apart else masked,
        'masked': masked,
        'events': spark_cdc._relation_in(apart or schema, entity.name ~ '_events' ~ ('_sensitive' if apart else '')),
        'committed': spark_cdc._relation_in(schema, entity.name ~ '_committed'),
        'replay': spark_cdc._relation_in(schema, entity.name ~ '_replay'),
        'load_log': spark_cdc._load_log(),
    }) }}
{%- endmacro -%}


{#- The capture that the model at hand belongs to. -#}
{%- macro _capture_of_model() -%}
    {{ return(spark_cdc._capture(spark_cdc._entity(spark_cdc._entity_name()), model['schema'])) }}
{%- endmacro -%}
