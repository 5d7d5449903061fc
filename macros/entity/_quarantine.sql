{#- Which rejected rows are set aside and do not stop a load: null_keys (whose key can't be read), failed_casts (rejected
    for another reason), duplicate_keys (of keys that come more than once). Returns a list. -#}
{%- macro _quarantine(name, settings) -%}
    {%- set kinds = [] -%}
    {%- set rejects = settings.get('on_reject') == 'quarantine' or spark_cdc._is_lifted(name, 'rejects') -%}
    {%- set duplicates = settings.get('on_duplicate_key') == 'quarantine' -%}
    {%- for kind, is_set_aside in [('null_keys', rejects), ('failed_casts', rejects), ('duplicate_keys', duplicates)]
            if (is_set_aside or spark_cdc._is_lifted(name, kind)) and not (kind == 'duplicate_keys' and settings.get('load_type') == 'events') -%}
        {%- do kinds.append(kind) -%}
    {%- endfor -%}
    {{ return(kinds) }}
{%- endmacro -%}
