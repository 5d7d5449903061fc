{#- The entity that the model at hand belongs to, from the model's name: stg_orders, orders_ledger and
    orders_current are all of `orders`. Returns text. -#}
{%- macro _entity_name() -%}
    {%- set model_name = model.get('tested_node_unique_id', model['unique_id']).split('.')[2] -%}
    {{ return(spark_cdc._strip_entity_affix(model_name)) }}
{%- endmacro -%}


{%- macro _strip_entity_affix(model_name) -%}
    {%- if model_name.startswith('stg_') -%}
        {{ return(model_name[4:]) }}
    {%- endif -%}
    {%- for suffix in ['_ledger', '_committed', '_current', '_history', '_event_versions', '_versions', '_events', '_rejects'] if model_name.endswith(suffix) -%}
        {{ return(model_name[:-(suffix | length)]) }}
    {%- endfor -%}
    {% do exceptions.raise_compiler_error(
        "spark_cdc: the model '" ~ model_name ~ "' calls a macro of spark_cdc but its name says no entity. "
        ~ "Accepted are stg_<entity> and <entity>_events, _ledger, _committed, _current, _history, _versions, _event_versions, _rejects: rename the model."
    ) %}
{%- endmacro -%}
