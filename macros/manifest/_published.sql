{#- What readers see. -#}
{%- macro _published(committed, views) -%}
    {{ return(spark_cdc._parse_manifest(spark_cdc._view_text(committed), committed) if views.committed else spark_cdc._empty_manifest()) }}
{%- endmacro -%}
