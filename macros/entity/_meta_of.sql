{#- `meta` of a node or column, wherever it was written: under `meta` or under `config.meta`. -#}
{%- macro _meta_of(item) -%}
    {%- set meta = dict(item.get('meta') or {}) -%}
    {%- do meta.update((item.get('config') or {}).get('meta') or {}) -%}
    {{ return(meta) }}
{%- endmacro -%}
