{#- By what a forgotten key is known when it comes again. Of a plain key that is its hash, which everybody may read anyway. Of a sensitive one it is an HMAC
    of the values under names of its own, so that the list tells neither the key nor its former hash; each secret of which the list has tokens makes one, so that a
    rotation forgets nothing. Arguments: entity, list (of _forgotten_list()), keys (the key columns, with the SQL of their values), key_hash (SQL of the hash). Returns a
    list of dictionaries: secret (id), sql. -#}
{%- macro _forgotten_tokens(entity, list, keys, key_hash='key_hash') -%}
    {%- set tokens = [] -%}
    {%- for id in spark_cdc._forgotten_secrets(entity, list) -%}
        {%- do tokens.append({'secret': id, 'sql': key_hash if id == 'none' else spark_cdc._forgotten_token(entity, keys, id)}) -%}
    {%- endfor -%}
    {{ return(tokens) }}
{%- endmacro -%}


{#- The token of a sensitive key, with the secret of an id. -#}
{%- macro _forgotten_token(entity, keys, id) -%}
    {%- set secret = spark_cdc._secret_of_id(id) -%}
    {%- if load_cached_relation(secret) is none -%}
        {%- set message -%}
{{ entity.name }}: keys were forgotten under the secret {{ id }}, and {{ secret }} is gone, so that nobody can tell whether they come again. Nothing was written. {# -#}
Put the table back as it was.
        {%- endset -%}
        {%- do exceptions.raise_compiler_error(message) -%}
    {%- endif -%}
    {%- set columns = [] -%}
    {%- for key in keys -%}{%- do columns.append(dict(key, name='forgotten:' ~ key.name, secret=secret)) -%}{%- endfor -%}
    {{ return(spark_cdc._hash_unless(spark_cdc._any_null(columns), columns)) }}
{%- endmacro -%}


{#- The tokens of the key that an event's row had before, if it is sensitive; keys as of _old_keys(). -#}
{%- macro _forgotten_old_tokens(entity, list, keys=none) -%}
    {%- if not spark_cdc._has_sensitive_key(entity) -%}{{ return([]) }}{%- endif -%}
    {%- set former = [] -%}
    {%- for key in keys or spark_cdc._old_keys(entity) -%}{%- do former.append(dict(key, name=key.of.name)) -%}{%- endfor -%}
    {{ return(spark_cdc._forgotten_tokens(entity, list, former, 'old_key_hash')) }}
{%- endmacro -%}
