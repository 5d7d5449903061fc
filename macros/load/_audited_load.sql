{#- Audits a load, and whether the manifest with it is short enough. Returns a dictionary: audit (of _audit_load()), manifest (of _next_manifest()). -#}
{%- macro _audited_load(run) -%}
    {%- set audit = spark_cdc._audit_load(run) -%}
    {%- set manifest = spark_cdc._next_manifest(run, audit) -%}
    {%- set excess = spark_cdc._manifest_text_excess(run.entity, spark_cdc._committed_sql(run.entity, run.masked, dict(manifest, commit=spark_cdc._attempt()))) -%}
    {%- if excess -%}{%- do spark_cdc._refuse_load(run.entity, 'manifest_limit', excess, run.load, audit) -%}{%- endif -%}
    {{ return({'audit': audit, 'manifest': manifest}) }}
{%- endmacro -%}
