{%- macro _view_text(view) -%}
    {{ return(spark_cdc._query('show create table ' ~ view)[0].createtab_stmt) }}
{%- endmacro -%}


{#- The query in a manifest's `show create table`. -#}
{%- macro _query_of_view(text) -%}
    {{ return('select\n    ' ~ text[text.index('/* spark_cdc manifest:'):] | trim) }}
{%- endmacro -%}
