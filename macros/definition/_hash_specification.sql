{#- The version of an entity's hashes and, where columns are sensitive, which of the hashes are keyed (by the role of their columns; the key's also where
    events are told apart by their place) and with which secret: `version 2 of compared, key with secret 20240301T101500_0a935ca6`. -#}
{%- macro _hash_specification(entity) -%}
    {%- set secret = spark_cdc._secret_of(entity.sensitive) -%}
    {%- set version = 'version ' ~ spark_cdc._hash_version(secret) -%}
    {%- if secret is none -%}{{ return(version) }}{%- endif -%}
    {%- set roles = entity.sensitive | map(attribute='role') | list + ([] if entity.key_columns else ['key']) -%}
    {{ return(version ~ ' of ' ~ roles | unique | sort | join(', ') ~ ' with secret ' ~ spark_cdc._secret_id(secret)) }}
{%- endmacro -%}


{#- What such a text says of the key's hash alone. -#}
{%- macro _hash_specification_of_key(text) -%}
    {%- set keyed = modules.re.fullmatch('version 2 of (.*) with (secret .*)', text) -%}
    {{ return(text if not keyed else keyed.group(2) if 'key' in keyed.group(1).split(', ') else 'version ' ~ spark_cdc._hash_version()) }}
{%- endmacro -%}
