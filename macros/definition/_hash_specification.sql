{#- The version of an entity's hashes and, where columns are sensitive, which of the hashes are keyed (by the role of their columns; the key's also where
    events are told apart by their place, or are archived and may name their row by a sensitive unique key) and with which secret: `version 2 of compared, key with secret 20240301T101500_0a935ca6`. -#}
{%- macro _hash_specification(entity) -%}
    {%- set secret = spark_cdc._secret_of(entity.sensitive) -%}
    {%- set version = 'version ' ~ spark_cdc._hash_version(secret) -%}
    {%- if secret is none -%}{{ return(version) }}{%- endif -%}
    {%- set events = entity.events or {} -%}
    {%- set names_rows = not entity.key_columns or (events.get('archive')
        and spark_cdc._secret_of(events.unique_keys | sum(start=[])) is not none) -%}
    {%- set roles = entity.sensitive | map(attribute='role') | list + (['key'] if names_rows else []) -%}
    {{ return(version ~ ' of ' ~ roles | unique | sort | join(', ') ~ ' with secret ' ~ spark_cdc._secret_id(secret)) }}
{%- endmacro -%}


{#- What such a text says of the key's hash alone. -#}
{%- macro _hash_specification_of_key(text) -%}
    {%- set keyed = modules.re.fullmatch('version 2 of (.*) with (secret .*)', text) -%}
    {{ return(text if not keyed else keyed.group(2) if 'key' in keyed.group(1).split(', ') else 'version ' ~ spark_cdc._hash_version()) }}
{%- endmacro -%}
