{#- The entity that the model at hand belongs to. Returns text. -#}
{%- macro _entity_name() -%}
    {{ return(spark_cdc._strip_entity_affix(model.get('tested_node_unique_id', model['unique_id']).split('.')[2])) }}
{%- endmacro -%}
