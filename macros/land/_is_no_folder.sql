{#- Whether there is not even a folder, with which only an entity can do that takes no files for an empty input. -#}
{%- macro _is_no_folder(entity, time) -%}
    {{ return(
        entity.source.on_no_files == 'empty'
        and spark_cdc._plan_lacks_path(spark_cdc._plan('select 1 from ' ~ spark_cdc._direct_sql(entity, time, 'text')))
    ) }}
{%- endmacro -%}
