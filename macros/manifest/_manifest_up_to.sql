{#- The manifest as it was when only the first of its loads were there. Arguments: capture, manifest, loads (of _loads_up_to()). -#}
{%- macro _manifest_up_to(capture, manifest, loads) -%}
    {%- set cut = manifest.loads[loads | length:][:1] -%}
    {%- if not cut -%}{{ return(manifest) }}{%- endif -%}
    {%- set first = spark_cdc._loads_by_date(capture.masked, cut)[0] -%}
    {{ return(spark_cdc._cut_manifest(capture, manifest, spark_cdc._load_time(first))) }}
{%- endmacro -%}
