{#- The manifest that readers see at this moment, asked of the metastore; dbt's cache has it then, too. -#}
{%- macro _published(capture) -%}
    {%- set view = capture.committed -%}
    {%- if not spark_cdc._is_there(view) -%}{{ return(spark_cdc._empty_manifest()) }}{%- endif -%}
    {%- set text = spark_cdc._view_text(view) -%}
    {%- set manifest = spark_cdc._parse_manifest(text, view) -%}
    {%- do spark_cdc._cache_view_text(view, text) -%}
    {{ return(manifest) }}
{%- endmacro -%}
