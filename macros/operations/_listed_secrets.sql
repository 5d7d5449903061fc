{#- The secrets, oldest first: a list of dictionaries with id, table, proof (of _secret_proof(); none where it can't be read), is_current (whether loads take
    it) and entities (names of those whose last load took it, of the entities given). Argument: used (of _secrets_in_use()). -#}
{%- macro _listed_secrets(used) -%}
    {%- set listed, secrets = [], spark_cdc._secrets() -%}
    {%- for secret in secrets -%}
        {%- set id = spark_cdc._secret_id(secret) -%}
        {%- do listed.append({
            'id': id, 'table': secret | string, 'proof': spark_cdc._secret_proof(secret), 'is_current': loop.last,
            'entities': used | selectattr('id', 'equalto', id) | map(attribute='entity') | list,
        }) -%}
    {%- endfor -%}
    {{ return(listed) }}
{%- endmacro -%}


{#- Which secret the last loads of entities took: a list of dictionaries with entity, id, proof (as the manifest has it), is_key (whether the key's hash is
    keyed). Those with nothing loaded, or without a sensitive column then, are left out. -#}
{%- macro _listed_secrets_in_use(captures) -%}
    {%- set found = [] -%}
    {%- for capture in captures if capture.head.get('secrets') -%}
        {%- set last = capture.head.loads[-1:] -%}
        {%- set record = spark_cdc._load_records(capture.ledger, last).get(last | first) or {'definition': {}} -%}
        {%- set text = record.definition.get('hash specification', '') -%}
        {%- set id = text.rsplit('with secret ', 1)[1] if 'with secret ' in text else none -%}
        {%- if id -%}
            {%- do found.append({
                'entity': capture.entity.name, 'id': id, 'proof': capture.head.secrets.get(id),
                'is_key': 'secret' in spark_cdc._hash_specification_of_key(text),
            }) -%}
        {%- endif -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
