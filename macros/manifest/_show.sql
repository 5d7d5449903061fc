{#- The second and the third step of _publish(), which also bring a view up to date whose manifest stays. What was committed by others in
    the meantime, if this process was stopped between the first and the second, is made visible again. -#}
{%- macro _show(capture, text, exists) -%}
    {%- do run_query(spark_cdc._replace_view_sql(capture.committed, text, exists)) -%}
    {%- do spark_cdc._head(capture) -%}
{%- endmacro -%}
