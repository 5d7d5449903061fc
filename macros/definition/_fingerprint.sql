{#- A definition (of _definition()) in 32 characters, and behind them, where hashes are keyed, a blank and the secret's id. -#}
{%- macro _fingerprint(definition) -%}
    {%- set hash = 'hash specification' -%}
    {%- set version, _, secret = (definition.get(hash) or '').partition(' with secret ') -%}
    {%- set columns = dict(definition, **{hash: version}) if secret else definition -%}
    {{ return((local_md5(tojson(columns, sort_keys=true)) ~ ' ' ~ secret) | trim) }}
{%- endmacro -%}
