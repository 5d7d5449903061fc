{#- What paths of the folder, as Spark lists them, have in them: its own without the scheme, which Spark may write otherwise. -#}
{%- macro _entries_folder(entity, time) -%}
    {{ return(modules.re.sub('^[A-Za-z0-9]+:/*', '', spark_cdc._landing_path(entity, time)).rstrip('/')) }}
{%- endmacro -%}
