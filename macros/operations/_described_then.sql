{#- An entity as a load has it that was written under an earlier definition: stored columns with their roles, types and masks, and the secret that its hashes were
    keyed with, as far as that is still there. Arguments: entity (as it is declared now), record (of the load). Returns a dictionary as of _entity(). -#}
{%- macro _described_then(entity, record) -%}
    {%- if record.definition == spark_cdc._definition(entity) -%}{{ return(entity) }}{%- endif -%}
    {%- set masks = fromjson(record.definition.get('masks') or '{}') -%}
    {%- set id = modules.re.search(' with secret (\\S+)$', record.definition.get('hash specification') or '') -%}
    {%- set secret = spark_cdc._secret_of_id(id.group(1)) if id else none -%}
    {%- set secret = secret if secret is not none and load_cached_relation(secret) is not none else spark_cdc._secret() -%}
    {%- set stored = [] -%}
    {%- for name, text in record.definition.items() if text.split(' ')[0] in ['key', 'compared', 'ignore'] -%}
        {%- set mask = masks.get(name) -%}
        {%- do stored.append({
            'name': name, 'sql': spark_cdc._quote(name), 'role': text.split(' ')[0], 'data_type': text.partition(' ')[2],
            'sensitive': name in masks, 'mask': mask, 'pseudonym': mask.removeprefix('token of ') if (mask or '').startswith('token of ') else none,
            'secret': secret if name in masks else none,
        }) -%}
    {%- endfor -%}
    {{ return(dict(
        entity,
        stored=stored,
        key_columns=stored | selectattr('role', 'equalto', 'key') | list,
        compared=stored | selectattr('role', 'equalto', 'compared') | list,
        ignored=stored | selectattr('role', 'equalto', 'ignore') | list,
        sensitive=stored | selectattr('sensitive') | list,
    )) }}
{%- endmacro -%}
