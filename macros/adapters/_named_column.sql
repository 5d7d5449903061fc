{#- The column that a setting names, whatever its case: one of the declared ones or one that the format adds. Returns
    its dictionary, or none. -#}
{%- macro _named_column(entity, name) -%}
    {{ return(spark_cdc._columns_by_name(entity.columns, [name]) | first | default(none)) }}
{%- endmacro -%}
