{#- The manifest on which a view's text depends, as dbt's cache has it, by which cdc_view tells what the view's text is by now; an empty one for commands
    that build nothing. -#}
{%- macro _manifest_of_view(committed) -%}
    {%- if not spark_cdc._is_build_command() -%}
        {{ return(spark_cdc._empty_manifest()) }}
    {%- endif -%}
    {{ return(spark_cdc._cached_manifest(committed) or spark_cdc._read_manifest(committed)) }}
{%- endmacro -%}
