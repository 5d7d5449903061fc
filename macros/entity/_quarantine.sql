{#- Which rejected rows are set aside and do not stop a load: null_keys (whose key can't be read), failed_casts (rejected
    for another reason), duplicate_keys (of keys that come more than once). Returns a list. -#}
{%- macro _quarantine(name, settings) -%}
    {%- set kinds = [] -%}
    {%- set all = settings.get('on_reject') == 'quarantine' or spark_cdc._is_lifted(name, 'rejects') -%}
    {%- for kind in ['null_keys', 'failed_casts'] if all or spark_cdc._is_lifted(name, kind) -%}
        {%- do kinds.append(kind) -%}
    {%- endfor -%}
    {%- if settings.get('load_type') != 'events'
            and (settings.get('on_duplicate_key') == 'quarantine' or spark_cdc._is_lifted(name, 'duplicate_keys')) -%}
        {%- do kinds.append('duplicate_keys') -%}
    {%- endif -%}
    {{ return(kinds) }}
{%- endmacro -%}
