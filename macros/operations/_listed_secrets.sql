{#- The secrets, oldest first: a list of dictionaries with id, table, proof (of _secret_proof(); none where it holds no key), is_current (whether loads take
    it) and entities (names of those whose last load took it, of the entities given). Argument: used (of _listed_secrets_in_use()). -#}
{%- macro _listed_secrets(used) -%}
    {%- set listed = [] -%}
    {%- for secret in spark_cdc._secrets() -%}
        {%- set id = spark_cdc._secret_id(secret) -%}
        {%- do listed.append({
            'id': id, 'table': secret | string, 'proof': spark_cdc._secret_proof(secret), 'is_current': loop.last,
            'entities': used | selectattr('id', 'equalto', id) | map(attribute='entity') | list,
        }) -%}
    {%- endfor -%}
    {{ return(listed) }}
{%- endmacro -%}


{#- Which secret the last loads of entities took: a list of dictionaries with entity, id, proof (as the manifest has it), is_key (whether the hash of its
    key is keyed). Entities whose last load took none are left out. Argument: captures (with head). -#}
{%- macro _listed_secrets_in_use(captures) -%}
    {%- set found = [] -%}
    {%- for capture in captures if ' ' in (capture.head.definition or '') -%}
        {%- set id = capture.head.definition.split(' ')[1] -%}
        {%- do found.append({
            'entity': capture.entity.name, 'id': id, 'proof': capture.head.secrets.get(id),
            'is_key': 'secret' in spark_cdc._hash_specification_of_key(spark_cdc._hash_specification(capture.entity)),
        }) -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
