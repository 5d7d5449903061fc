{#- Send a statement that gives no rows. Other than run_query() it fetches nothing, which saves a call, and which PyHive can't where Spark 3.5 answers
    without a column. -#}
{%- macro _send(sql) -%}
    {%- call statement(none, auto_begin=false) -%}
        {{- sql -}}
    {%- endcall -%}
{%- endmacro -%}
