{#- The entity that a model belongs to, from the model's name: stg_orders, orders_ledger and orders_current are all of `orders`.
    Returns text. -#}
{%- macro _strip_entity_affix(model_name) -%}
    {%- if model_name.startswith('stg_') -%}
        {{ return(model_name[4:]) }}
    {%- endif -%}
    {%- set suffixes = ['_ledger', '_committed', '_current', '_history', '_event_versions', '_versions', '_events', '_rejects'] -%}
    {%- for suffix in suffixes if model_name.endswith(suffix) -%}
        {{ return(model_name.removesuffix(suffix)) }}
    {%- endfor -%}
    {%- set message -%}
        spark_cdc: the model '{{ model_name }}' calls a macro of spark_cdc but its name says no entity. Accepted are stg_<entity> and
        {{- ' <entity>_events, _ledger, _committed, _current, _history, _versions, _event_versions, _rejects: rename the model.' }}
    {%- endset -%}
    {% do exceptions.raise_compiler_error(message) %}
{%- endmacro -%}
