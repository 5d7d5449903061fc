{#- A manifest as this run's next commit of it: numbered, and signed. -#}
{%- macro _next_commit(manifest) -%}
    {{ return(dict(manifest, sequence=manifest.sequence + 1, commit=spark_cdc._attempt())) }}
{%- endmacro -%}
