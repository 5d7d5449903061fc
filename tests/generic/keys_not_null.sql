{#- No key column is null, but those of a sensitive key that was erased. The key columns are
    those of the entity that the model belongs to; of one without a key it is key_hash. -#}
{%- test keys_not_null(model) -%}
{%- if execute -%}  {#- at parse time the model has no name yet -#}
{%- set entity = spark_cdc._entity(spark_cdc._strip_entity_affix(model.identifier)) -%}
{%- set keys = entity.key_columns or [{'sql': 'key_hash'}] -%}
select {{ keys | map(attribute='sql') | join(', ') }}
from {{ model }}
where {{ spark_cdc._but_erased_sql(entity, spark_cdc._any_null(keys)) }}
{%- endif -%}
{%- endtest -%}
