{#- The manifest on which a view's text depends; an empty one for unit tests and commands that build nothing. -#}
{%- macro _manifest_of_view(committed) -%}
    {%- if model['resource_type'] == 'unit_test' or not spark_cdc._is_load_command() -%}
        {{ return(spark_cdc._empty_manifest()) }}
    {%- endif -%}
    {{ return(spark_cdc._read_manifest(committed)) }}
{%- endmacro -%}
