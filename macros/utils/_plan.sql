{#- What Spark says to EXPLAIN: the plan of a query, or as text why there is none. -#}
{%- macro _plan(sql) -%}{{ return(spark_cdc._query('explain ' ~ sql) | map(attribute='plan') | join('\n')) }}{%- endmacro -%}
