{#- The manifest that readers see. Arguments: capture, views (of _commit_views()). -#}
{%- macro _published(capture, views) -%}
    {{ return(spark_cdc._parse_manifest(spark_cdc._view_text(capture.committed), capture.committed) if views.committed else spark_cdc._empty_manifest()) }}
{%- endmacro -%}
