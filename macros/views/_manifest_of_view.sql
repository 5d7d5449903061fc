{#- The manifest on which a view's text depends; an empty one for commands that build nothing. -#}
{%- macro _manifest_of_view(committed) -%}
    {%- if not spark_cdc._is_build_command() -%}
        {{ return(spark_cdc._empty_manifest()) }}
    {%- endif -%}
    {{ return(spark_cdc._read_manifest(committed)) }}
{%- endmacro -%}
