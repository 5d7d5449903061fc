{#- The manifest on which a view's text depends; an empty one for unit tests and commands that build nothing. -#}
{%- macro _manifest_of_view(committed) -%}
    {%- if model['resource_type'] == 'unit_test' or not spark_cdc._is_load_command() -%}
        {{ return(spark_cdc._empty_manifest()) }}
    {%- endif -%}
    {{ return(spark_cdc.read_manifest(committed)) }}
{%- endmacro -%}


{#- The query of a view, stamped with the definition of the columns: a view keeps its columns' types until it is altered, also if what it
    selects from has others by now. -#}
{%- macro _typed_view_sql(sql, manifest) -%}
    {{ return(sql ~ ('\n/* columns of definition ' ~ manifest.definition ~ ' */' if manifest.definition else '')) }}
{%- endmacro -%}
