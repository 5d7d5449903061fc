{#- Refuses a load, before it writes, whose secret is not the one that the loads so far were hashed with under its name. Arguments: run (entity, manifest that
    the load builds on, load: its plan, if known). Returns what the load's record says of it, {id: proof (see _secret_proof())}; an empty dictionary where
    nothing is sensitive. -#}
{%- macro _check_secret(run) -%}
    {%- set entity, secret = run.entity, spark_cdc._secret_of(run.entity.sensitive) -%}
    {%- if secret is none -%}{{ return({}) }}{%- endif -%}
    {%- if spark_cdc._secret_is_missing(secret) -%}
        {%- set message = spark_cdc._missing_secret_text(entity.name, entity.sensitive) ~ ' Nothing was written.' -%}
        {%- do spark_cdc._refuse_load(entity, 'secret', message, run.get('load')) -%}
    {%- endif -%}
    {%- set id, is_there = spark_cdc._secret_id(secret), load_cached_relation(secret) is not none -%}
    {%- set proof = spark_cdc._secret_proof(secret) if is_there else none -%}
    {%- if proof is none or proof != (run.manifest.get('secrets') or {}).get(id, proof) -%}
        {%- set message -%}
{{ entity.name }}: the secret {{ id }} is not the one that the loads so far were hashed with: {{ secret }} {# -#}
{{ 'is gone' if not is_there else 'holds no key' if proof is none else 'was exchanged' }}. Every row would be taken for another one. Nothing was written. Put the table back as {# -#}
it was; or make a new secret, with which the hashes are computed anew once: spark-cdc secrets rotate.
        {%- endset -%}
        {%- do spark_cdc._refuse_load(entity, 'secret', message, run.get('load')) -%}
    {%- endif -%}
    {%- if run.manifest.get('forgotten') and spark_cdc._forgotten(entity) is none -%}
        {%- set message -%}
{{ entity.name }}: keys were forgotten after this run had looked at the schema, so that it does not know {{ spark_cdc._forgotten_list(entity) }}, the list of them. Nothing was {# -#}
written. Run the same command again; if it comes again, the list is gone: put it back.
        {%- endset -%}
        {%- do spark_cdc._refuse_load(entity, 'secret', message, run.get('load')) -%}
    {%- endif -%}
    {{ return({id: proof}) }}
{%- endmacro -%}
