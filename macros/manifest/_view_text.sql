{#- What a view is made of, as the metastore has it at this moment. -#}
{%- macro _view_text(view) -%}{{ return(spark_cdc._query('show create table ' ~ view)[0].createtab_stmt) }}{%- endmacro -%}
