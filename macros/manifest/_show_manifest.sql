{#- Lets readers see a manifest, and dbt's cache know it. Arguments: capture, text (of _manifest_text()), exists (whether the view is there). -#}
{%- macro _show_manifest(capture, text, exists) -%}
    {%- do spark_cdc._send(spark_cdc._replace_view_sql(capture.committed, text, exists)) -%}
    {%- do spark_cdc._cache_view_text(capture.committed, text) -%}
{%- endmacro -%}
