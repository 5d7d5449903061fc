{#- Whether nothing lies at a path, in which Spark's wildcards count. -#}
{%- macro _lacks_path(path) -%}
    {{ return(spark_cdc._plan_lacks_path(spark_cdc._plan('select 1 from text.`' ~ path.replace('`', '``') ~ '`'))) }}
{%- endmacro -%}
