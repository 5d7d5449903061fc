{#- The manifest that readers see at this moment; _read_manifest() asks dbt's cache whether there is one. -#}
{%- macro _published(capture) -%}
    {%- set view = capture.committed -%}
    {{ return(spark_cdc._parse_manifest(spark_cdc._view_text(view), view) if spark_cdc._is_there(view) else spark_cdc._empty_manifest()) }}
{%- endmacro -%}
