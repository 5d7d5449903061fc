{#- The entity that a model belongs to, from the model's name: stg_orders, orders_ledger and orders_current are all of `orders`.
    Returns text. -#}
{%- macro _strip_entity_affix(model_name) -%}
    {%- set suffixes = 'ledger|committed|current|history|versions|changes|event_versions|bitemporal|events|rejects|quality' -%}
    {%- set match = modules.re.fullmatch('stg_(.*)|(.*?)_(?:' ~ suffixes ~ ')(?:_sensitive)?', model_name) -%}
    {%- if match -%}{{ return(match.group(1) or match.group(2) or '') }}{%- endif -%}
    {%- set message -%}
        spark_cdc: the model '{{ model_name }}' calls a macro of spark_cdc but its name says no entity. Accepted are stg_<entity> and
        {{- ' <entity>_events, _ledger, _committed, _current, _history, _versions, _changes, _event_versions, _bitemporal, _rejects, _quality: rename the model.' }}
    {%- endset -%}
    {% do exceptions.raise_compiler_error(message) %}
{%- endmacro -%}
