{#- The schema in which the commits of a schema's entities are claimed. -#}
{%- macro _commits_schema(schema) -%}{{ return(schema ~ '_commits') }}{%- endmacro -%}


{%- macro _create_commits_schema(schema) -%}
    {%- do run_query('create schema if not exists ' ~ spark_cdc._quote(spark_cdc._commits_schema(schema))) -%}
{%- endmacro -%}
