{#- The model <entity>_rejects: rows that loads set aside since they could not be accepted. -#}
{%- macro rejects() -%}
    {{ return(spark_cdc._view_query_of_two('ledger', spark_cdc._rejects_sql)) }}
{%- endmacro -%}
