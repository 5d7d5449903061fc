{#- Which rejected rows are set aside and do not stop a load: null_keys (whose key can't be read), failed_casts (rejected
    for another reason), duplicate_keys (of keys that come more than once), dropped_rows (which break a rule that drops them), failed_rules (which
    break one that stops the load, where that is lifted). Returns a list. -#}
{%- macro _quarantine(name, settings) -%}
    {%- set kinds = [] -%}
    {%- set rejects = settings.get('on_reject') == 'quarantine' or spark_cdc._is_lifted(name, 'rejects') -%}
    {%- set duplicates = settings.get('on_duplicate_key') == 'quarantine' -%}
    {%- set actions = spark_cdc._rules(settings) | map(attribute='action') | list -%}
    {%- for kind, is_set_aside in [
        ('null_keys', rejects), ('failed_casts', rejects), ('duplicate_keys', duplicates), ('dropped_rows', 'drop' in actions), ('failed_rules', false),
    ] if (is_set_aside or spark_cdc._is_lifted(name, kind)) and not (kind == 'duplicate_keys' and settings.get('load_type') == 'events')
            and not (kind == 'failed_rules' and 'fail' not in actions) -%}
        {%- do kinds.append(kind) -%}
    {%- endfor -%}
    {{ return(kinds) }}
{%- endmacro -%}
