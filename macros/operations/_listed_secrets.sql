{#- The secrets, oldest first: a list of dictionaries with id, table, proof (of _secret_proof(); none where it holds no key), is_current (whether loads take
    it) and entities (names of those whose last load took it, of the entities given). Argument: used (of _listed_secrets_in_use()). -#}
{%- macro _listed_secrets(used) -%}
    {%- set current, listed = spark_cdc._secret(), [] -%}
    {%- set names = [] -%}
    {%- for row in (spark_cdc._query('show tables in ' ~ spark_cdc._quote(current.schema) ~ " like 'spark_cdc_secret_*'")
            if adapter.check_schema_exists(target.database, current.schema) else []) -%}
        {%- do names.append(row.tableName) -%}
    {%- endfor -%}
    {%- for name in names | sort -%}
        {%- set secret = spark_cdc._relation_in(current.schema, name) -%}
        {%- set id = spark_cdc._secret_id(secret) -%}
        {%- do listed.append({
            'id': id, 'table': secret | string, 'proof': spark_cdc._secret_proof(secret), 'is_current': name == current.identifier,
            'entities': used | selectattr('id', 'equalto', id) | map(attribute='entity') | list,
        }) -%}
    {%- endfor -%}
    {{ return(listed) }}
{%- endmacro -%}


{#- Which secret the last loads of entities took: a list of dictionaries with entity, id, proof (as the manifest has it), is_key (whether the hash of its
    key is keyed); also which ones sensitive keys were forgotten with. Entities whose last load took none are left out. Argument: captures (with head). -#}
{%- macro _listed_secrets_in_use(captures) -%}
    {%- set found = [] -%}
    {%- for capture in captures if ' ' in (capture.head.definition or '') -%}
        {%- set id = capture.head.definition.split(' ')[1] -%}
        {%- do found.append({
            'entity': capture.entity.name, 'id': id, 'proof': capture.head.secrets.get(id),
            'is_key': 'secret' in spark_cdc._hash_specification_of_key(spark_cdc._hash_specification(capture.entity)),
        }) -%}
    {%- endfor -%}
    {#- what keys were forgotten with has to stay as long as the list does -#}
    {%- for capture in captures if spark_cdc._has_sensitive_key(capture.entity) and spark_cdc._forgotten(capture.entity) is not none -%}
        {%- for id in spark_cdc._forgotten_secrets(capture.entity, spark_cdc._forgotten(capture.entity)) -%}
            {%- set secret = spark_cdc._secret_of_id(id) -%}
            {%- do found.append({
                'entity': capture.entity.name ~ ' (forgotten keys)', 'id': id, 'is_key': false,
                'proof': spark_cdc._secret_proof(secret) if load_cached_relation(secret) is not none else none,
            }) -%}
        {%- endfor -%}
    {%- endfor -%}
    {{ return(found) }}
{%- endmacro -%}
