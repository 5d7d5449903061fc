{#- What is wrong with what is asked for: raised before anything is read. Arguments: capture, keys and source (of forget()). -#}
{%- macro _check_forget(capture, keys, source) -%}
    {%- set entity = capture.entity -%}
    {%- set names = entity.key_columns | map(attribute='name') | list -%}
    {%- set lengths = [] -%}
    {%- for key in keys or [] -%}{%- do lengths.append(key | length if key is sequence and key is not string else 1) -%}{%- endfor -%}
    {%- set is_branch = env_var('SPARK_CDC_BRANCH', '') != '' or (entity.sensitive and spark_cdc._own(capture.masked) != capture.masked) -%}
    {%- set unique_keys = (entity.events or {}).get('unique_keys') or [] -%}
    {%- set problems = spark_cdc._broken({
        'names': names | join(', '), 'count': names | length, 'found': lengths | reject('equalto', names | length) | join(', '), 'name': entity.name,
    }, [
        (not entity.sensitive, 'it has no sensitive columns, and forget takes away nothing but their values (docs/sensitive.md)'),
        (not names, 'it has no key, by which rows could be told'),
        (is_branch, 'this is a branch: forget in production, and make the branch anew'),
        (spark_cdc._secret_of(unique_keys | sum(start=[])) is not none,
         'its events name rows by a sensitive unique key (events.unique_keys) too, which the list of forgotten keys does not know'),
        ((not keys) == (not source), 'accepted are keys, or a table or file of them (source): spark-cdc forget %(name)s --key …, or --keys TABLE'),
        (keys and lengths | reject('equalto', names | length) | list,
         'a key has %(found)s values; the key has %(count)s: %(names)s'),
        (keys and spark_cdc._has_sensitive_key(entity),
         'its key is sensitive (%(names)s), and what a command names stands in logs: give the keys in a table or file that only you can read, with the '
         'columns %(names)s: spark-cdc forget %(name)s --keys TABLE'),
    ]) -%}
    {%- do spark_cdc._refuse_forget(entity, problems) -%}
{%- endmacro -%}


{#- What of the entity's state does not go with it. -#}
{%- macro _check_forget_head(capture, head) -%}
    {%- set entity = capture.entity -%}
    {%- set secret = spark_cdc._secret_of(entity.sensitive) -%}
    {%- set proof = none if spark_cdc._secret_is_missing(secret) else spark_cdc._secret_proof(secret) -%}
    {%- set id = spark_cdc._secret_id(secret) -%}
    {%- set problems = spark_cdc._broken({'name': entity.name, 'last': head.loads | last | default('none'), 'schema': spark_cdc._sensitive_schema()}, [
        (spark_cdc._read_draft(capture).existed,
         'there is a draft of a replay, whose loads hold what is to be forgotten: publish it, or discard it (dbt run-operation spark_cdc.discard_replay '
         "--args '{entities: [%(name)s]}')"),
        (head.definition and not spark_cdc._has_columns_of(entity, head.definition),
         'the columns of stg_%(name)s are not those of the last load, %(last)s: load once with the new columns first'),
        (proof is none, 'there is no secret in %(schema)s, with which its hashes are keyed: spark-cdc secrets init'),
        (proof is not none and proof != (head.get('secrets') or {}).get(id, proof),
         'the secret in %(schema)s is not the one that the loads so far were hashed with: spark-cdc secrets check'),
    ]) -%}
    {%- do spark_cdc._refuse_forget(entity, problems) -%}
{%- endmacro -%}
